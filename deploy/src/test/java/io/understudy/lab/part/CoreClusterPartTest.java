package io.understudy.lab.part;

import static org.assertj.core.api.Assertions.assertThatNoException;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.progress.Progress;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CoreClusterPartTest {

    private static final URI URL = URI.create("http://127.0.0.1:1");

    @TempDir
    private Path folder;

    @Test
    void oneThatWasNeverStartedIsStoppedThoughEtcdWasNotFoundYet() {
        try (Progress progress = Progress.onStandardError(new PrintWriter(Writer.nullWriter()), Map.of())) {
            CoreClusterPart core = new CoreClusterPart(
                    List.of(seat("voter-1")),
                    seat("learner"),
                    EtcdSettings.of(URL),
                    null,
                    new EtcdPrograms(progress),
                    progress);

            assertThatNoException().isThrownBy(core::stop);
        }
    }

    private CoreClusterPart.Seat seat(String name) {
        return new CoreClusterPart.Seat(MachineSettings.of(
                new MemberSpec(name, List.of(URL), List.of(URL)), ProcessKind.LOCAL, folder.resolve(name)));
    }
}
