// SPDX-License-Identifier: Apache-2.0

public import NotesClient
import SignetClient

extension Account {
    /// Accepts that the server lost some of the user's notes, because it was restored from a backup: begins with what it has now, and
    /// brings again what this device has. The next `NoteBook.sync` sends that.
    ///
    /// The file of before stays beside the new one. Whenever this is interrupted, it can be repeated. Other operations on the
    /// notes that are running at that moment fail and can be repeated.
    ///
    /// - Returns: what was done and the path of the file of before; nil if the server lacks nothing, so that nothing was changed.
    /// - Throws: ``SignetError``; nothing was changed on this device.
    ///
    /// Security: a server that cheats looks the same. Call it only if the user has heard from the operator that data was lost.
    public func acceptLossOfNotes() async throws(SignetError) -> (loss: AcceptedLoss, before: String)? {
        guard
            try await storedNotes({ book throws(NotesError) in try await book.isMissingSomething() })
        else { return nil }
        let path = home.folder.notesPath
        let next = path + ".next"
        let loss = try await storedNotes { book throws(NotesError) in
            do throws(StoreError) { try NotesStore.remove(at: next) } catch { throw .store(error) }
            let store: NotesStore
            do throws(StoreError) { store = try NotesStore.open(at: next) } catch { throw .store(error) }
            do throws(NotesError) {
                let loss = try await book.startOver(in: store)
                do throws(StoreError) { try store.close() } catch { throw .store(error) }
                return loss
            } catch {
                try? store.close()
                throw error
            }
        }
        await closeNotes()
        let before = "\(path).before-\(surroundings.now())"
        do { try DurableFile(path: path).makeWay(for: next, keptAt: before) } catch {
            throw .notes(.store(.file(error)))
        }
        return (loss, before)
    }
}
