"""Where the console is, and the links that sign members in there."""

ROOT = "/console"
SIGN_IN = f"{ROOT}/sign-in"


def link_to(public_url: str, secret: str) -> str:
    """The address that signs a member in once. It has the link's secret."""
    return f"{public_url}{SIGN_IN}?link={secret}"
