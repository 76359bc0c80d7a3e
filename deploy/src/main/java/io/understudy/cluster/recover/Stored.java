package io.understudy.cluster.recover;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What the database of a member that doesn't run holds.
 *
 * @param revision the last one; what is only in the member's log is not counted
 * @param voters the names of those it lists as voters. Who is listed as a learner may vote: etcd before 3.5.21 did not
 *     always write a promotion there
 */
record Stored(long revision, Set<String> voters) {

    private static final Logger log = LoggerFactory.getLogger(Stored.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    Stored {
        voters = Set.copyOf(voters);
    }

    /** Those that a database lists as voters; none if it can't be read. */
    static Set<String> voters(Path database) {
        try (BoltFile file = BoltFile.open(database)) {
            Set<String> voters = new HashSet<>();
            for (String value : file.values("members")) {
                JsonNode member = JSON.readTree(value);
                if (!member.path("isLearner").asBoolean()) {
                    voters.add(member.path("name").asText());
                }
            }
            return voters;
        } catch (IOException e) {
            log.atWarn()
                    .addKeyValue("database", database)
                    .addKeyValue("cause", e.toString())
                    .log("cannot read members from database");
            return Set.of();
        }
    }
}
