from maild_client.cli.program import main

main()
