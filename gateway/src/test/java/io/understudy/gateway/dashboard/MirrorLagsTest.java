package io.understudy.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class MirrorLagsTest {

    @Test
    void theLagIsThatOfTheActiveProcess_inAnyOrder() {
        JsonObject active = mirror("dr", "etcd [http://dr:2379]", "synced", 12);
        JsonObject standby = mirror("dr", "etcd [http://dr:2379]", "standby", 90_000);
        assertThat(lags(process("a:8081", standby), process("b:8081", active))).isEqualTo(Map.of("dr", 12.0));
        assertThat(lags(process("a:8081", active), process("b:8081", standby))).isEqualTo(Map.of("dr", 12.0));
    }

    @Test
    void mirrorsOfTheSameNameHaveTheirOwnLags() {
        JsonObject oslo = process("oslo:8081", mirror("dr", "etcd [http://oslo:2379]", "synced", 12));
        JsonObject rome = process("rome:8081", mirror("dr", "etcd [http://rome:2379]", "syncing", 34));
        assertThat(lags(oslo, rome)).isEqualTo(Map.of("dr", 12.0, "dr at rome:8081", 34.0));
    }

    @Test
    void unreachableMirrorsAreOmitted_andOthersKeepTheirNames() {
        JsonObject oslo = process("oslo:8081", mirror("dr", "etcd [http://oslo:2379]", "synced", 12));
        JsonObject rome = process("rome:8081", mirror("dr", "etcd [http://rome:2379]", "synced", 34));
        assertThat(lags(oslo.put("reachable", false), rome)).isEqualTo(Map.of("dr at rome:8081", 34.0));
    }

    @Test
    void aProcessWithoutAStatusAndAnUnknownLagAreOmitted() {
        JsonObject silent = process("b:8081", mirror("dr", "", "synced", 1));
        silent.remove("mirrors");
        assertThat(lags(silent, process("a:8081", mirror("dr", "etcd [http://dr:2379]", "starting", null))))
                .isEmpty();
    }

    private static Map<String, Double> lags(JsonObject... processes) {
        return MirrorLags.of(MirrorLags.labelled(JsonArray.of((Object[]) processes)));
    }

    private static JsonObject process(String authority, JsonObject mirror) {
        return new JsonObject()
                .put("url", "http://" + authority)
                .put("reachable", true)
                .put("mirrors", JsonArray.of(mirror));
    }

    private static JsonObject mirror(String name, String target, String state, @Nullable Integer lag) {
        return new JsonObject()
                .put("name", name)
                .put("target", target)
                .put("state", state)
                .put("lagMillis", lag);
    }
}
