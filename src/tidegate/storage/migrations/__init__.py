"""The steps from an older database to the newest tables; they ship with the package."""
