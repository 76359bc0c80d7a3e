package io.understudy.cluster.supervise;

import io.understudy.cluster.settings.ClusterSettings;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CountDownLatch;

/** A supervisor to be killed: its file, and where it listens. */
public final class SupervisorMain {

    private SupervisorMain() {}

    public static void main(String[] arguments) throws Exception {
        ClusterSettings settings =
                ClusterSettings.load(Path.of(arguments[0]), Map.of(), Map.of("supervisor.listen", arguments[1]));
        SupervisorProcess running = SupervisorProcess.start(settings, SupervisedCluster.machines(settings));
        new CountDownLatch(1).await();
        running.close();
    }
}
