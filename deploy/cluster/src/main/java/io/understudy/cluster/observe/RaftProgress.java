package io.understudy.cluster.observe;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.vocabulary.MemberId;
import java.util.HashMap;
import java.util.Map;

/** Replication progress of the followers, on the leader's page {@code /debug/vars}. */
final class RaftProgress {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int HEXADECIMAL = 16;
    private static final String SNAPSHOT = "StateSnapshot";

    private RaftProgress() {}

    /**
     * Returns the last log index of each member behind the commit index. Members that receive a snapshot are left out,
     * since their index does not grow. Empty for any other page.
     */
    static Map<MemberId, Long> behind(String page) {
        try {
            JsonNode status = JSON.readTree(page).path("raft.status");
            long committed = status.path("commit").asLong();
            Map<MemberId, Long> behind = new HashMap<>();
            status.path("progress").properties().forEach(each -> {
                long match = each.getValue().path("match").asLong();
                if (match < committed && !each.getValue().path("state").asText().equals(SNAPSHOT)) {
                    behind.put(new MemberId(Long.parseUnsignedLong(each.getKey(), HEXADECIMAL)), match);
                }
            });
            return behind;
        } catch (JsonProcessingException | NumberFormatException e) {
            return Map.of();
        }
    }
}
