package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.local.junit.EtcdExtension;
import io.understudy.local.process.FreePorts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What {@code bin/archive-classes} is for: processes that start from what it has made. */
@Tag("distribution")
final class ClassArchiveIT {

    private static final Path HOME = Path.of(System.getProperty("understudy.distribution"));

    private static final String ARCHIVED = "source: shared objects file";

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    @TempDir
    private Path folder;

    private Path place;

    private Path loaded;

    @BeforeEach
    void unpackElsewhere() throws Exception {
        place = folder.resolve("place");
        loaded = folder.resolve("loaded.log");
        run(new ProcessBuilder("cp", "-R", HOME.toString(), place.toString()));
    }

    @Test
    void gatewaysAndMirrorsTakeTheirClassesFromTheArchive() throws Exception {
        // given
        if ("write".equals(System.getProperty("understudy.samples"))) {
            writeList();
        }
        archive();
        for (Running process : List.<Running>of(this::mirror, this::gateway)) {

            // when
            process.run("-Xlog:class+load:file=" + loaded);

            // then
            List<String> all = Files.readAllLines(loaded);
            assertThat(all).hasSizeGreaterThan(5000);
            assertThat(all.stream().filter(line -> !line.contains(ARCHIVED)))
                    .as("the list is out of date: run with -Dunderstudy.samples=write")
                    .hasSizeLessThan(all.size() / 25);
        }
    }

    private interface Running {
        void run(String option) throws Exception;
    }

    @Test
    void classesAreTakenFromTheArchiveOfThisPlaceAlone() throws Exception {
        // given
        archive();

        // when
        String started = version();

        // then
        assertThat(started).matches("understudy .*\\R");
        assertThat(loaded).content().contains("io.understudy.cli.Understudy " + ARCHIVED);

        // when it is of other libraries, as after an update of them
        try (Stream<Path> libraries = Files.list(place.resolve("lib"))) {
            for (Path library :
                    libraries.filter(each -> each.toString().endsWith(".jar")).toList()) {
                Files.setLastModifiedTime(library, FileTime.from(Instant.now()));
            }
        }

        // then it is ignored without a message
        assertThat(version()).isEqualTo(started);
        assertThat(loaded).content().doesNotContain("io.understudy.cli.Understudy " + ARCHIVED);
    }

    private void archive() throws Exception {
        assertThat(run(new ProcessBuilder(place.resolve("bin/archive-classes").toString())))
                .isEmpty();
    }

    private String version() throws Exception {
        return run(understudy("-Xlog:class+load:file=" + loaded, "--version"));
    }

    /** Sorted, so that a change shows what has changed; without what a JVM makes itself at each start. */
    private void writeList() throws Exception {
        Path list = folder.resolve("list");
        TreeSet<String> lines = new TreeSet<>();
        for (Running process : List.<Running>of(
                this::mirror, this::gateway, this::help, option -> run(understudy(option, "version")))) {
            process.run("-XX:DumpLoadedClassList=" + list);
            lines.addAll(Files.readAllLines(list));
        }
        lines.removeIf(line -> line.startsWith("#") || line.contains("$Proxy"));
        Files.write(place.resolve("lib/understudy.classlist"), lines);
        Files.write(Path.of("dist/src/main/dist/lib/understudy.classlist"), lines);
    }

    private void help(String option) throws Exception {
        var unused = run(understudy(option, "cluster", "add", "--help"));
    }

    /** Runs one until it follows the source. */
    private void mirror(String option) throws Exception {
        Path file = Files.writeString(folder.resolve("dr.yaml"), """
                status: {listen: "127.0.0.1:0"}
                mirrors:
                  dr:
                    source: {endpoints: ["%s"]}
                    target: {etcd: {endpoints: ["%s"]}}
                """.formatted(
                        SOURCE.cluster().clientUrls().get(0),
                        TARGET.cluster().clientUrls().get(0)));
        Path log = folder.resolve("log");
        Process process = understudy(option, "mirror", "--config", file.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(log).content().contains("watch opened"));
            SOURCE.cluster().etcdctl("put", "k", log.toString());
            await().atMost(Duration.ofMinutes(1))
                    .until(() -> TARGET.cluster().etcdctl("get", "k").contains(log.toString()));
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(log)).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    /** Runs one until it has served a read, a write and a watch. */
    private void gateway(String option) throws Exception {
        try (FreePorts ports = FreePorts.take(1)) {
            gateway(option, ports.get(0));
        }
    }

    private void gateway(String option, int port) throws Exception {
        Path file = Files.writeString(folder.resolve("gateway.yaml"), """
                listen: "127.0.0.1:%d"
                rest: {listen: "127.0.0.1:0"}
                writes: forward
                source: {endpoints: "%s"}
                """.formatted(
                        port, SOURCE.cluster().clientUrls().get(0)));
        Path log = folder.resolve("gateway.log");
        Process process = understudy(option, "gateway", "--config", file.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(log).content().contains("replica ready"));
            String endpoint = "--endpoints=127.0.0.1:" + port;
            SOURCE.cluster().etcdctl(endpoint, "put", "k", "v");
            SOURCE.cluster().etcdctl(endpoint, "get", "k");
            process.destroy();
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(log)).isZero();
        } finally {
            process.destroyForcibly();
        }
    }

    private ProcessBuilder understudy(String option, String... arguments) {
        ProcessBuilder builder = new ProcessBuilder(
                Stream.concat(Stream.of(place.resolve("bin/understudy").toString()), Stream.of(arguments))
                        .toList());
        builder.environment().put("UNDERSTUDY_JAVA_OPTS", option);
        return builder;
    }

    private static String run(ProcessBuilder builder) throws IOException, InterruptedException {
        Process process = builder.redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
