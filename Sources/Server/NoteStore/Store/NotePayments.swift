// SPDX-License-Identifier: Apache-2.0

/// The triggers that keep `accounts.bytes`: who caused a row pays for it, and is repaid when it goes, in whatever way that happens.
///
/// SQLite's run for each row. A server's run once for each statement, with all rows that it has added or deleted, so that a record in a thousand
/// feeds is one update of its payer and not a thousand versions of one row.
enum NotePayments {
    private static let feed = NoteLimits.feedByteCount
    private static let name = NoteLimits.nameByteCount

    // MARK: SQLite

    static let recordsOnSQLite = """
        CREATE TRIGGER records_paid AFTER INSERT ON records BEGIN
            UPDATE accounts SET bytes = bytes + length(NEW.item) WHERE id = NEW.payer;
        END;
        CREATE TRIGGER records_repaid AFTER DELETE ON records BEGIN
            UPDATE accounts SET bytes = bytes - length(OLD.item) WHERE id = OLD.payer;
        END;
        CREATE TRIGGER chunks_paid AFTER INSERT ON chunks BEGIN
            UPDATE accounts SET bytes = bytes + length(NEW.body) WHERE id = NEW.payer;
        END;
        CREATE TRIGGER chunks_repaid AFTER DELETE ON chunks BEGIN
            UPDATE accounts SET bytes = bytes - length(OLD.body) WHERE id = OLD.payer;
        END;
        CREATE TRIGGER heads_paid AFTER INSERT ON heads BEGIN
            UPDATE accounts SET bytes = bytes + length(NEW.head) WHERE id = NEW.account;
        END;
        CREATE TRIGGER heads_repaid AFTER DELETE ON heads BEGIN
            UPDATE accounts SET bytes = bytes - length(OLD.head) WHERE id = OLD.account;
        END;
        """

    static let feedOnSQLite = """
        CREATE TRIGGER feed_paid AFTER INSERT ON feed WHEN NEW.payer IS NOT NULL BEGIN
            UPDATE accounts SET bytes = bytes + \(feed) WHERE id = NEW.payer;
        END;
        CREATE TRIGGER feed_repaid AFTER DELETE ON feed WHEN OLD.payer IS NOT NULL BEGIN
            UPDATE accounts SET bytes = bytes - \(feed) WHERE id = OLD.payer;
        END;
        CREATE TRIGGER pushes_paid AFTER INSERT ON pushes BEGIN
            UPDATE accounts SET bytes = bytes + \(name) WHERE id = NEW.account;
        END;
        CREATE TRIGGER pushes_repaid AFTER DELETE ON pushes BEGIN
            UPDATE accounts SET bytes = bytes - \(name) WHERE id = OLD.account;
        END;
        """

    static let headNotesOnSQLite = """
        CREATE TRIGGER head_notes_paid AFTER UPDATE OF head_notes ON accounts BEGIN
            UPDATE accounts
            SET bytes = bytes + COALESCE(length(NEW.head_notes), 0) - COALESCE(length(OLD.head_notes), 0)
            WHERE id = NEW.id;
        END;
        """

    /// A body costs the same wherever it is.
    static let objectsOnSQLite = """
        DROP TRIGGER chunks_paid;
        DROP TRIGGER chunks_repaid;
        CREATE TRIGGER chunks_paid AFTER INSERT ON chunks BEGIN
            UPDATE accounts SET bytes = bytes + length(NEW.body) + NEW.size WHERE id = NEW.payer;
        END;
        CREATE TRIGGER chunks_repaid AFTER DELETE ON chunks BEGIN
            UPDATE accounts SET bytes = bytes - length(OLD.body) - OLD.size WHERE id = OLD.payer;
        END;
        CREATE TRIGGER chunks_gone AFTER DELETE ON chunks WHEN OLD.object IS NOT NULL BEGIN
            INSERT INTO going_objects (name) VALUES (OLD.object);
        END;
        """

    // MARK: PostgreSQL

    static let objectsOnPostgres =
        """
        DROP TRIGGER chunks_paid ON chunks;
        DROP TRIGGER chunks_repaid ON chunks;
        DROP FUNCTION chunks_paid();
        DROP FUNCTION chunks_repaid();
        CREATE FUNCTION chunks_gone() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            INSERT INTO going_objects (name) SELECT object FROM touched WHERE object IS NOT NULL;
            RETURN NULL;
        END $$;
        CREATE TRIGGER chunks_gone AFTER DELETE ON chunks REFERENCING OLD TABLE AS touched
            FOR EACH STATEMENT EXECUTE FUNCTION chunks_gone();

        """ + paid("chunks", "payer", "CAST(SUM(length(body) + size) AS BIGINT)")

    static let recordsOnPostgres =
        paid("records", "payer", "SUM(length(item))") + paid("chunks", "payer", "SUM(length(body))")
        + paid("heads", "account", "SUM(length(head))")

    static let feedOnPostgres =
        paid("feed", "payer", "\(feed) * COUNT(*)") + paid("pushes", "account", "\(name) * COUNT(*)")

    /// Changes the row before it is written: an update of `accounts` by a trigger on `accounts` would be a second version of the row, and one
    /// that named the column would call the trigger again.
    static let headNotesOnPostgres = """
        CREATE FUNCTION head_notes_paid() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.bytes := NEW.bytes + COALESCE(length(NEW.head_notes), 0) - COALESCE(length(OLD.head_notes), 0);
            RETURN NEW;
        END $$;
        CREATE TRIGGER head_notes_paid BEFORE UPDATE OF head_notes ON accounts
            FOR EACH ROW EXECUTE FUNCTION head_notes_paid();

        """

    /// Both triggers of a table.
    ///
    /// - Parameters:
    ///   - payer: the column with who pays; where it is NULL, nobody does.
    ///   - amount: what several rows of one payer cost, in bytes.
    private static func paid(_ table: String, _ payer: String, _ amount: String) -> String {
        trigger("\(table)_paid", "INSERT ON \(table)", "NEW", payer, amount, sign: "+")
            + trigger("\(table)_repaid", "DELETE ON \(table)", "OLD", payer, amount, sign: "-")
    }

    private static func trigger(
        _ name: String, _ event: String, _ rows: String, _ payer: String, _ amount: String, sign: String
    ) -> String {
        """
        CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            UPDATE accounts SET bytes = accounts.bytes \(sign) costs.amount
            FROM (SELECT \(payer) AS payer, \(amount) AS amount FROM touched GROUP BY \(payer)) AS costs
            WHERE accounts.id = costs.payer;
            RETURN NULL;
        END $$;
        CREATE TRIGGER \(name) AFTER \(event) REFERENCING \(rows) TABLE AS touched
            FOR EACH STATEMENT EXECUTE FUNCTION \(name)();

        """
    }
}
