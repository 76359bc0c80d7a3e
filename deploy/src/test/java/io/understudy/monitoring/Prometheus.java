package io.understudy.monitoring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Debian's Prometheus with the shipped alerts, which scrapes each second, in OpenMetrics as by default. */
public final class Prometheus implements AutoCloseable {

    private static final Path PROGRAM = Path.of("/usr/bin/prometheus");
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final HttpClient http = HttpClient.newHttpClient();
    private final ServerProcess process;
    private final String url;

    private Prometheus(ServerProcess process, String url) {
        this.process = process;
        this.url = url;
    }

    /** Skips the test where it isn't installed. */
    public static void requireInstalled() {
        assumeTrue(Files.isExecutable(PROGRAM), PROGRAM + " is missing; on Debian: apt-get install prometheus");
        Promtool.require();
    }

    /**
     * Starts it.
     *
     * @param jobs addresses by name of their job
     */
    public static Prometheus start(Path folder, int port, Map<String, List<String>> jobs) throws IOException {
        StringBuilder file = new StringBuilder("""
                global:
                  scrape_interval: 1s
                  evaluation_interval: 1s
                rule_files: ["%s"]
                scrape_configs:
                """.formatted(Expressions.SHIPPED.resolve("alerts.yaml")));
        jobs.forEach((job, addresses) -> file.append("  - job_name: ")
                .append(job)
                .append("\n    static_configs: [{targets: [\"")
                .append(String.join("\", \"", addresses))
                .append("\"]}]\n"));
        Path configuration = Files.writeString(folder.resolve("prometheus.yaml"), file);
        String address = "127.0.0.1:" + port;
        ServerProcess process = new LocalProcesses()
                .prepare(new ServerCommand(
                        "prometheus",
                        PROGRAM,
                        List.of(
                                "--config.file=" + configuration,
                                "--storage.tsdb.path=" + folder.resolve("prometheus"),
                                "--web.listen-address=" + address),
                        Map.of(),
                        folder,
                        folder.resolve("prometheus.log")));
        process.start();
        return new Prometheus(process, "http://" + address);
    }

    /** Returns how many of so many processes were scraped without an error. */
    public int awaitScrapes(int expected) {
        await().atMost(PATIENCE).ignoreExceptions().until(() -> query("up == 1").size() == expected);
        return query("up == 1").size();
    }

    /** Fails if the expression has no result for long. */
    public void awaitData(String expression) {
        await("data of " + expression).atMost(PATIENCE).until(() -> !query(expression)
                .isEmpty());
    }

    /** Until each rule was evaluated without an error. */
    public void awaitRules() {
        await("rules to be evaluated").atMost(PATIENCE).until(() -> {
            List<String> states = new ArrayList<>();
            for (JsonNode group : get("/api/v1/rules").path("data").path("groups")) {
                group.path("rules")
                        .forEach(rule -> states.add(rule.path("health").asText()));
            }
            return !states.isEmpty() && states.stream().allMatch("ok"::equals);
        });
    }

    /** The alerts that fire now. */
    public List<String> firing() {
        List<String> firing = new ArrayList<>();
        for (JsonNode alert : get("/api/v1/alerts").path("data").path("alerts")) {
            if (alert.path("state").asText().equals("firing")) {
                firing.add(alert.path("labels").toString());
            }
        }
        return firing;
    }

    private JsonNode query(String expression) {
        JsonNode answer = get("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
        if (!answer.path("status").asText().equals("success")) {
            throw new AssertionError(expression + ": " + answer);
        }
        return answer.path("data").path("result");
    }

    private JsonNode get(String path) {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create(url + path))
                    .timeout(Duration.ofSeconds(10))
                    .build();
            return new ObjectMapper()
                    .readTree(http.send(request, BodyHandlers.ofString()).body());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        process.close();
    }
}
