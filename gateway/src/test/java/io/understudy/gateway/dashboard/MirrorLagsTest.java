package io.understudy.gateway.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class MirrorLagsTest {

    @Test
    void theLagIsThatOfTheActiveProcess_inAnyOrder() {
        JsonObject active = mirror("dr", "etcd [http://dr:2379]", "synced", 12);
        JsonObject standby = mirror("dr", "etcd [http://dr:2379]", "standby", 90_000);
        assertThat(MirrorLags.of(List.of(report("a:8081", standby), report("b:8081", active))))
                .isEqualTo(Map.of("dr", 12.0));
        assertThat(MirrorLags.of(List.of(report("a:8081", active), report("b:8081", standby))))
                .isEqualTo(Map.of("dr", 12.0));
    }

    @Test
    void mirrorsOfTheSameNameHaveTheirOwnLags() {
        Neighbours.Report oslo = report("oslo:8081", mirror("dr", "etcd [http://oslo:2379]", "synced", 12));
        Neighbours.Report rome = report("rome:8081", mirror("dr", "etcd [http://rome:2379]", "syncing", 34));
        assertThat(MirrorLags.of(List.of(oslo, rome))).isEqualTo(Map.of("dr", 12.0, "dr at rome:8081", 34.0));
    }

    @Test
    void unreachableMirrorsAreOmitted_andOthersKeepTheirNames() {
        Neighbours.Report oslo = report("oslo:8081", mirror("dr", "etcd [http://oslo:2379]", "synced", 12));
        Neighbours.Report rome = report("rome:8081", mirror("dr", "etcd [http://rome:2379]", "synced", 34));
        Neighbours.Report gone = new Neighbours.Report(oslo.neighbour(), oslo.status(), "refused");
        assertThat(MirrorLags.of(List.of(gone, rome))).isEqualTo(Map.of("dr at rome:8081", 34.0));
    }

    @Test
    void anUnknownLagIsOmitted() {
        assertThat(MirrorLags.of(List.of(report("a:8081", mirror("dr", "etcd [http://dr:2379]", "starting", null)))))
                .isEmpty();
    }

    private static Neighbours.Report report(String authority, JsonObject mirror) {
        return new Neighbours.Report(
                new Neighbour(Neighbour.Kind.MIRROR, URI.create("http://" + authority)),
                new JsonObject().put("mirrors", new JsonArray().add(mirror)),
                null);
    }

    private static JsonObject mirror(String name, String target, String state, @Nullable Integer lag) {
        return new JsonObject()
                .put("name", name)
                .put("target", target)
                .put("state", state)
                .put("lagMillis", lag);
    }
}
