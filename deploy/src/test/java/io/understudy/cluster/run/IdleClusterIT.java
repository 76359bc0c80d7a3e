package io.understudy.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A cluster that no client writes to. */
@Timeout(120)
final class IdleClusterIT {

    /** Above what etcd keeps in its log for slow members, so that a new one gets a snapshot. */
    private static final int ENTRIES = 5_200;

    /** etcd 3.6 and 3.7 alone leave it unready until another client writes. */
    @Test
    void aMemberJoinsThatReceivesASnapshot(@TempDir Path folder) throws Exception {
        try (ChangedCluster cluster = ChangedCluster.startWithoutProxies(1, folder)) {
            cluster.put(ENTRIES);

            Outcome outcome = cluster.reach(new AddMember(cluster.machines.newPlace(), true));

            assertThat(outcome).as("%s", cluster.events).isInstanceOf(Outcome.Reached.class);
        }
    }
}
