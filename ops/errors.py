"""What can go wrong while running Pageturn; each message is one line at the shell."""

from shared.core.errors import PageturnError


class OpsError(PageturnError):
    """Pageturn could not do this."""

    code = "ops"


class StoreError(OpsError):
    """A database server of the data folder did not start."""

    code = "store"


class HomeError(OpsError):
    """The data folder cannot be used."""

    code = "home"


class PortInUseError(OpsError):
    """A port is in use."""

    code = "port_in_use"


class AlreadyRunningError(OpsError):
    """Pageturn already runs for this data folder."""

    code = "already_running"


class NotRunningError(OpsError):
    """Pageturn does not run for this data folder."""

    code = "not_running"


class NewerDatabaseError(OpsError):
    """The database is newer than this version of Pageturn: run the version that wrote it."""

    code = "newer_database"


class TablesInUseError(OpsError):
    """Tables stay in use (by a backup, an idle transaction?): run this again later."""

    code = "tables_in_use"


class MigrationRunsError(OpsError):
    """Another migration of this database is still running: wait for its end."""

    code = "migration_runs"


class ArchiveError(OpsError):
    """The file is not a whole backup of Pageturn."""

    code = "archive"
