// No source imports this module: GRDB has one of its own. It is here for its name in Package.swift, by which SwiftPM looks for
// SQLite before it builds anything, and says which package of the system is missing.
#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#else
#error "sqlite3.h is missing: run `make setup` (it installs libsqlite3-dev), then build again"
#endif
