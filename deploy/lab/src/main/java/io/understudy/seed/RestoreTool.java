package io.understudy.seed;

import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** {@code etcdutl}, of a version that can move revisions. */
record RestoreTool(Path etcdutl) {

    private static final ProgramVersion OLDEST = new ProgramVersion(3, 5, 10);
    private static final Duration VERSION_DEADLINE = Duration.ofSeconds(20);
    private static final Duration DEADLINE = Duration.ofMinutes(10);

    static RestoreTool of(EtcdBinaries binaries) {
        Path etcdutl = binaries.etcdutl();
        if (etcdutl == null) {
            throw new SeedException(
                    "etcdutl is required but not beside " + binaries.etcd() + ": set UNDERSTUDY_ETCD to an etcd "
                            + OLDEST + " or later with etcdutl",
                    null);
        }
        String printed = Command.of(List.of(etcdutl.toString(), "version")).run(VERSION_DEADLINE);
        ProgramVersion version = ProgramVersion.in(printed)
                .orElseThrow(() ->
                        new SeedException("cannot read the version of " + etcdutl + ": " + printed.strip(), null));
        if (!version.isAtLeast(OLDEST)) {
            throw new SeedException(
                    etcdutl + " has version " + version + "; --bump-revision requires " + OLDEST
                            + " or later: set UNDERSTUDY_ETCD to another one",
                    null);
        }
        return new RestoreTool(etcdutl);
    }

    void restore(Path snapshot, Seed seed) {
        try {
            var unused = Command.of(List.of(
                            etcdutl.toString(),
                            "snapshot",
                            "restore",
                            snapshot.toString(),
                            "--data-dir=" + seed.directory(),
                            "--name=" + seed.member(),
                            seed.initialCluster(),
                            seed.advertisePeerUrls(),
                            "--initial-cluster-token=" + seed.token(),
                            "--bump-revision=" + seed.bump(),
                            "--mark-compacted"))
                    .run(DEADLINE);
        } catch (CommandFailedException e) {
            throw new SeedException("cannot restore the snapshot into " + seed.directory(), e);
        }
    }
}
