package io.understudy.cluster.recover;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.cluster.recover.LogEntry.Voting;
import io.understudy.cluster.snapshot.BoltFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The content of a data directory.
 *
 * @param database what its database holds
 */
record Stored(WriteAheadLog log, Database database) {

    private static final Logger LOG = LoggerFactory.getLogger(Stored.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    /**
     * A member as a database lists it.
     *
     * @param name empty before its first start
     */
    record Listed(String name, List<URI> peerUrls) {}

    /**
     * The part of a member's database that a recovery needs; all zero if unreadable.
     *
     * @param revision the last one
     * @param applied the index of the last applied log entry
     * @param members by ID
     */
    record Database(long revision, long applied, Map<Long, Listed> members) {

        static final Database UNREADABLE = new Database(0, 0, Map.of());

        Database {
            members = Map.copyOf(members);
        }

        static Database read(Path file) throws IOException {
            try (BoltFile bolt = BoltFile.open(file)) {
                Map<Long, Listed> members = new HashMap<>();
                for (String value : bolt.values("members")) {
                    JsonNode member = JSON.readTree(value);
                    List<URI> peerUrls = new ArrayList<>();
                    member.path("peerURLs").forEach(url -> peerUrls.add(URI.create(url.asText())));
                    members.put(
                            Long.parseUnsignedLong(member.path("id").asText()),
                            new Listed(member.path("name").asText(), List.copyOf(peerUrls)));
                }
                return new Database(
                        bolt.lastKey("key").orElse(0L),
                        bolt.number("meta", "consistent_index").orElse(0L),
                        members);
            } catch (IllegalArgumentException e) {
                throw new IOException(file + " has an unreadable member list", e);
            }
        }
    }

    /** @throws IOException the log cannot be read; an unreadable database is reported and left out */
    static Stored read(Path dataDirectory) throws IOException {
        Path file = database(dataDirectory);
        WriteAheadLog log;
        try {
            log = WriteAheadLog.read(dataDirectory.resolve("member/wal"));
        } catch (NoSuchFileException e) {
            // A member that starts without data creates its log last.
            if (Files.exists(file) && Database.read(file).revision() > 0) {
                throw e;
            }
            return new Stored(WriteAheadLog.NONE, Database.UNREADABLE);
        }
        try {
            return new Stored(log, Database.read(file));
        } catch (IOException e) {
            LOG.atWarn()
                    .addKeyValue("database", file)
                    .addKeyValue("cause", e.toString())
                    .log("database unreadable");
            return new Stored(log, Database.UNREADABLE);
        }
    }

    static Path database(Path dataDirectory) {
        return dataDirectory.resolve("member/snap/db");
    }

    /** The highest index known to be committed. */
    long committed() {
        return Math.max(log.committed(), database.applied());
    }

    /** Whether the member received nothing yet. */
    boolean isEmpty() {
        return log.last().index() == 0;
    }

    /** Returns entries that change the configuration and may not be committed. */
    List<LogEntry> pendingChanges() {
        return log.changes().filter(change -> !isApplied(change)).toList();
    }

    /** The log marks an entry as committed only after the database may have applied it. */
    private boolean isApplied(LogEntry change) {
        return change.at().index() <= database.applied();
    }

    /**
     * Returns the members by the committed log. A change is committed before etcd judges it: what the database does not
     * list, although it has applied the whole of the log, was rejected.
     */
    Voting voting() {
        Voting logged =
                log.changes().filter(this::isApplied).reduce(log.voting(), Voting::after, (before, after) -> after);
        return database.members().isEmpty() || database.applied() < log.committed()
                ? logged
                : logged.within(database.members().keySet());
    }

    boolean isVoter() {
        return voting().voters().contains(log.member());
    }

    boolean isLearner() {
        return voting().learners().contains(log.member());
    }
}
