"""The client in coroutines: the source of `maild_client/_sync`, which `scripts/clients` derives from it."""
