package io.understudy.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

/** The queries of the alerts and the dashboard to Prometheus. */
public final class Expressions {

    /** Where what is shipped lies in the sources. */
    static final Path SHIPPED = Path.of("dist/src/main/dist/monitoring").toAbsolutePath();

    private static final Pattern ALERT = Pattern.compile("- alert: (\\w+)\n +expr: '(.*)'\n");
    private static final Pattern SELECTOR = Pattern.compile("(understudy_\\w+)(?:\\{([^}]*)})?");
    private static final Pattern MATCHER = Pattern.compile("(\\w+)(?:=|!=)~?\"");

    private Expressions() {}

    /** By name. */
    public static Map<String, String> ofAlerts() throws IOException {
        Map<String, String> alerts = new TreeMap<>();
        Matcher found = ALERT.matcher(Files.readString(SHIPPED.resolve("alerts.yaml")));
        while (found.find()) {
            alerts.put(found.group(1), found.group(2).replace("''", "'"));
        }
        return alerts;
    }

    /** By panel and number, with what Grafana fills in: all instances, of the last {@code interval}. */
    public static Map<String, String> ofDashboard(String interval) throws IOException {
        Map<String, String> panels = new TreeMap<>();
        JsonNode dashboard = new ObjectMapper().readTree(Files.readString(SHIPPED.resolve("dashboard.json")));
        for (JsonNode panel : dashboard.path("panels")) {
            for (JsonNode target : panel.path("targets")) {
                panels.put(
                        panel.path("title").asText() + " " + panel.path("id").asText()
                                + target.path("refId").asText(),
                        target.path("expr")
                                .asText()
                                .replace("$__rate_interval", interval)
                                .replace("$instance", ".*"));
            }
        }
        return panels;
    }

    /** The ids of a dashboard's panels. */
    static List<Integer> panelIds() throws IOException {
        JsonNode dashboard = new ObjectMapper().readTree(Files.readString(SHIPPED.resolve("dashboard.json")));
        return StreamSupport.stream(dashboard.path("panels").spliterator(), false)
                .map(panel -> panel.path("id").asInt())
                .toList();
    }

    /** The series of ours that an expression reads, each with the labels that it selects by. */
    public static Map<String, Set<String>> selected(String expression) {
        Map<String, Set<String>> selected = new TreeMap<>();
        Matcher selector = SELECTOR.matcher(expression);
        while (selector.find()) {
            Set<String> labels = selected.computeIfAbsent(selector.group(1), absent -> new HashSet<>());
            Matcher label = MATCHER.matcher(selector.group(2) == null ? "" : selector.group(2));
            while (label.find()) {
                labels.add(label.group(1));
            }
        }
        return selected;
    }
}
