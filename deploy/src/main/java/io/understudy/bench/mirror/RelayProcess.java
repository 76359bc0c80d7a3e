package io.understudy.bench.mirror;

import io.understudy.bench.BenchException;
import io.understudy.lab.part.UnderstudyPart;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A relay as a process of its own. It can be stopped, and started again where it was. */
interface RelayProcess extends AutoCloseable {

    /** Starts it; returns when it runs, not when it has copied anything. */
    void start() throws InterruptedException;

    void stop();

    /**
     * Of the process that runs.
     *
     * @throws BenchException it has ended
     */
    long pid();

    @Override
    void close();

    /** {@code understudy mirror}, of everything. */
    static RelayProcess mirror(Clusters clusters, Path folder, Progress progress) {
        String sources = clusters.sourceUrls().stream().map(URI::toString).collect(Collectors.joining(", "));
        FreePorts port = FreePorts.take(1);
        String configuration = """
                # Written by 'understudy bench'.
                status:
                  listen: 127.0.0.1:%d
                mirrors:
                  bench:
                    source:
                      endpoints: [%s]
                    target:
                      etcd:
                        endpoints: [%s]
                """.formatted(port.get(0), sources, clusters.targetUrl());
        return new RelayProcess() {
            private UnderstudyPart part = part();

            private UnderstudyPart part() {
                return new UnderstudyPart(
                        "mirror",
                        Folders.create(folder),
                        configuration,
                        "",
                        URI.create("http://127.0.0.1:" + port.get(0) + "/livez"),
                        progress);
            }

            @Override
            public void start() throws InterruptedException {
                part.start();
            }

            @Override
            public void stop() {
                part.stop();
                part = part();
            }

            @Override
            public long pid() {
                return pidOf(part.children().get(0).process().get());
            }

            @Override
            public void close() {
                part.stop();
                port.close();
            }
        };
    }

    /** {@code etcdctl make-mirror}, of everything. */
    static RelayProcess makeMirror(EtcdBinaries binaries, Clusters clusters, Path folder) {
        String sources = clusters.sourceUrls().stream()
                .map(each -> each.getHost() + ":" + each.getPort())
                .collect(Collectors.joining(","));
        ServerProcess process = new LocalProcesses()
                .prepare(new ServerCommand(
                        "make-mirror",
                        binaries.etcdctl(),
                        List.of(
                                "--endpoints=" + sources,
                                "make-mirror",
                                clusters.targetUrl().getHost() + ":"
                                        + clusters.targetUrl().getPort()),
                        Map.of("ETCDCTL_API", "3"),
                        Folders.create(folder),
                        folder.resolve("make-mirror.log")));
        return new RelayProcess() {
            @Override
            public void start() {
                process.start();
            }

            @Override
            public void stop() {
                process.stop();
            }

            @Override
            public long pid() {
                return pidOf(process);
            }

            @Override
            public void close() {
                process.close();
            }
        };
    }

    private static long pidOf(ServerProcess process) {
        return process.pid()
                .orElseThrow(() -> new BenchException(process.name() + " has ended; the end of its log:\n  "
                        + String.join("\n  ", process.log().tail(12))));
    }
}
