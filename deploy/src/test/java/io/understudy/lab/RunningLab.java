package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import io.understudy.lab.ports.LabPorts.PortCheck;
import io.understudy.lab.ports.PortHolders;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.process.Command;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code understudy lab} of the distribution, run as a user would. */
final class RunningLab implements AutoCloseable {

    private static final Path HOME = Path.of(System.getProperty("understudy.distribution"));
    private static final Duration START = Duration.ofMinutes(5);
    private static final Duration STOP = Duration.ofMinutes(1);
    private static final Pattern REPORT = Pattern.compile("^\\{$.*?^\\}$", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern STARTED = Pattern.compile("server started name=\"?[^\\s\"]+\"? pid=\"?(\\d+)");

    private final ServerProcess process;
    private final Path data;
    private final LabPorts ports;

    private RunningLab(ServerProcess process, Path data, LabPorts ports) {
        this.process = process;
        this.data = data;
        this.ports = ports;
    }

    /**
     * Starts it and returns at once.
     *
     * @param run names the file of its output, beside the data directory
     */
    static RunningLab start(String run, Path data, LabPorts ports, String... flags) {
        List<String> arguments = new ArrayList<>(List.of("lab", "--output=json", "--data-dir=" + data));
        ports.numbers().forEach((port, number) -> arguments.add(port.flag() + "=" + number));
        arguments.addAll(List.of(flags));
        ServerProcess process = new LocalProcesses()
                .prepare(new ServerCommand(
                        run,
                        HOME.resolve("bin/understudy").toAbsolutePath(),
                        arguments,
                        Map.of(
                                "UNDERSTUDY_ETCD_VERSION",
                                EtcdBinaries.find().version().toString()),
                        data.getParent(),
                        data.resolveSibling(run + ".log")));
        process.start();
        return new RunningLab(process, data, ports);
    }

    String output() {
        return String.join("\n", process.log().tail(500));
    }

    /** What it prints once it has checked itself. */
    JsonNode report() {
        await().atMost(START).until(() -> REPORT.matcher(output()).find() || !process.isAlive());
        Matcher report = REPORT.matcher(output());
        assertThat(report.find())
                .as("a report in the output of the lab:%n%s", output())
                .isTrue();
        try {
            return new ObjectMapper().readTree(report.group());
        } catch (IOException e) {
            throw new AssertionError("not JSON: " + report.group(), e);
        }
    }

    long pid(String part) {
        for (JsonNode each : report().path("endpoints")) {
            if (each.path("part").asText().equals(part)) {
                return each.path("pid").asLong();
            }
        }
        throw new AssertionError("no part " + part + " in " + report());
    }

    /** SIGKILL, from outside. */
    void kill(String part) {
        assertThat(ProcessHandle.of(pid(part)).orElseThrow().destroyForcibly()).isTrue();
    }

    void awaitOutput(String text) {
        await().atMost(START).until(() -> output().contains(text));
    }

    /** As Ctrl-C does. */
    void interrupt() {
        Command.of(List.of("kill", "-INT", Long.toString(process.pid().orElseThrow())))
                .run(Duration.ofSeconds(10));
    }

    void killLab() {
        process.kill();
    }

    int awaitExit() {
        await().atMost(STOP).until(() -> !process.isAlive());
        return process.exitStatus().orElseThrow();
    }

    /** Neither a process nor a listener of any run in this data directory is there any more. */
    void assertNothingIsLeft() throws IOException {
        Matcher started = STARTED.matcher(Files.readString(data.resolve("lab.log")));
        List<Long> pids = new ArrayList<>();
        while (started.find()) {
            pids.add(Long.valueOf(started.group(1)));
        }
        assertThat(pids).isNotEmpty();
        await().atMost(Duration.ofSeconds(10)).untilAsserted(() -> assertThat(pids)
                .noneMatch(pid ->
                        ProcessHandle.of(pid).filter(ProcessHandle::isAlive).isPresent()));
        new PortCheck(PortHolders.ofThisMachine()).requireFree(ports, LabPort.used(true));
    }

    /** The state of a mirror, by its own report. */
    JsonNode mirror(String name) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(ports.url(LabPort.MIRROR).resolve("/status"))
                .timeout(Duration.ofSeconds(5))
                .build();
        String body = HttpClient.newHttpClient()
                .send(request, HttpResponse.BodyHandlers.ofString())
                .body();
        for (JsonNode each : new ObjectMapper().readTree(body).path("mirrors")) {
            if (each.path("name").asText().equals(name)) {
                return each;
            }
        }
        throw new AssertionError("no mirror " + name + " in " + body);
    }

    URI url(LabPort port) {
        return ports.url(port);
    }

    @Override
    public void close() {
        process.close();
    }
}
