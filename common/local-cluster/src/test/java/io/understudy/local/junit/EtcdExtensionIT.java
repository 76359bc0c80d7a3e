package io.understudy.local.junit;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.process.Folders;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.reporting.ReportEntry;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;

class EtcdExtensionIT {

    private static final List<LocalEtcd> USED = new CopyOnWriteArrayList<>();

    @Test
    void whatATestBreaksIsMendedForTheNextAndTheLogOfAFailedOneIsKept() throws Exception {
        EngineExecutionResults results = run(Rough.class);
        results.testEvents().assertStatistics(tests -> tests.succeeded(2).failed(1));
        List<Path> logs = results.testEvents()
                .reportingEntryPublished()
                .map(event -> event.getRequiredPayload(ReportEntry.class))
                .flatMap(entry -> entry.getKeyValuePairs().values().stream())
                .map(Path::of)
                .toList();
        assertThat(logs).hasSize(3);
        for (Path log : logs) {
            assertThat(Files.readString(log)).contains("etcd-version");
        }
        Path kept = logs.get(0).getParent().getParent();
        Folders.delete(kept);
    }

    @Test
    void inAnInstanceFieldEachTestHasItsOwnCluster() {
        run(OwnCluster.class).testEvents().assertStatistics(tests -> tests.succeeded(2)
                .failed(0));
    }

    @Test
    void classesShareAClusterAndFindItEmpty_untilOneHasRestartedAMember() {
        USED.clear();
        run(Writer.class, Reader.class, Restarter.class, LastReader.class)
                .testEvents()
                .assertStatistics(tests -> tests.succeeded(4).failed(0));
        assertThat(USED).satisfies(used -> {
            assertThat(used.get(1)).isSameAs(used.get(0));
            assertThat(used.get(2)).isSameAs(used.get(0));
            assertThat(used.get(3)).isNotSameAs(used.get(0));
        });
    }

    private static EngineExecutionResults run(Class<?>... tests) {
        return EngineTestKit.engine("junit-jupiter")
                .selectors(Stream.of(tests).map(DiscoverySelectors::selectClass).toArray(DiscoverySelector[]::new))
                .execute();
    }

    /** Run by the tests above only: a class inside a class is not picked up by itself. */
    @TestMethodOrder(MethodOrderer.OrderAnnotation.class)
    static final class Rough {

        @RegisterExtension
        static final EtcdExtension etcd = EtcdExtension.voters(3).behindProxies();

        @Test
        @Order(1)
        void leavesFaultsBehind() {
            List<EtcdMember> members = etcd.cluster().members();
            members.get(0).kill();
            members.get(1).pause();
            members.get(2).clientProxy().blackHole();
            etcd.cluster().partition(Set.of(members.get(0)), Set.of(members.get(2)));
        }

        @Test
        @Order(2)
        void fails() {
            assertThat(etcd.cluster().members()).allMatch(EtcdMember::isAlive).isEmpty();
        }

        @Test
        @Order(3)
        void findsAllWell() {
            for (EtcdMember member : etcd.cluster().members()) {
                assertThat(etcd.cluster().etcdctl("--endpoints=" + member.clientUrl(), "put", "a", "b"))
                        .contains("OK");
            }
        }
    }

    static final class OwnCluster {

        @RegisterExtension
        final EtcdExtension etcd = EtcdExtension.voters(1).named("own");

        @BeforeEach
        void theClusterIsThere() {
            assertThat(etcd.cluster().name()).isEqualTo("own");
        }

        @Test
        void first() {
            seesNothingButItsOwn();
        }

        @Test
        void second() {
            seesNothingButItsOwn();
        }

        private void seesNothingButItsOwn() {
            assertThat(etcd.cluster().etcdctl("get", "--prefix", "")).isEmpty();
            etcd.cluster().etcdctl("put", "mine", "1");
        }
    }

    /** Puts a key with a lease into the shared cluster, which is empty. */
    static class Writer {

        @RegisterExtension
        static final EtcdExtension etcd = EtcdExtension.voters(1).named("shared");

        @Test
        void finds() {
            USED.add(etcd.cluster());
            assertThat(etcd.cluster().etcdctl("get", "--prefix", "")).isEmpty();
            assertThat(etcd.cluster().etcdctl("lease", "list")).contains("found 0 leases");
            etcd.cluster().etcdctl("lease", "grant", "600");
            etcd.cluster().etcdctl("put", "mine", "1");
        }
    }

    static final class Reader extends Writer {}

    static final class LastReader extends Writer {}

    static final class Restarter {

        @RegisterExtension
        static final EtcdExtension etcd = EtcdExtension.voters(1).named("shared");

        @Test
        void restarts() {
            USED.add(etcd.cluster());
            etcd.cluster().members().get(0).restart();
        }
    }
}
