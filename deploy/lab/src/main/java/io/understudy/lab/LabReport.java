package io.understudy.lab;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.lab.check.SelfCheck.WriteVisibility;
import io.understudy.report.TextTable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The report of a lab that runs and has checked itself.
 *
 * @param check empty if the core takes no writes of clients
 * @param hints commands to try
 */
public record LabReport(Path dataDirectory, List<Served> endpoints, List<WriteVisibility> check, List<String> hints) {

    public LabReport {
        endpoints = List.copyOf(endpoints);
        check = List.copyOf(check);
        hints = List.copyOf(hints);
    }

    /**
     * Something that listens.
     *
     * @param part the part of the lab
     * @param serves the service there
     * @param address {@code host:port}
     * @param pid the process
     */
    public record Served(String part, String serves, String address, long pid) {}

    /** Returns the report as text. */
    public String toText() {
        TextTable served = new TextTable("part", "serves", "address", "pid");
        endpoints.forEach(each -> served.row(each.part(), each.serves(), each.address(), Long.toString(each.pid())));
        return String.join("\n", served.lines()) + "\n\n" + (check.isEmpty() ? "" : seen()) + "Data directory: "
                + dataDirectory + "\n"
                + hints.stream().map(hint -> "  " + hint + "\n").collect(Collectors.joining());
    }

    private String seen() {
        TextTable seen = new TextTable("a key written to a voter is", "put, ms", "delete, ms");
        check.forEach(each -> seen.row(each.where(), millis(each.write()), millis(each.delete())));
        return String.join("\n", seen.lines()) + "\n\n";
    }

    /** Returns the report as JSON. */
    public String toJson() {
        ObjectMapper mapper = new ObjectMapper();
        ObjectNode root = mapper.createObjectNode();
        root.put("dataDirectory", dataDirectory.toString());
        endpoints.forEach(each -> root.withArray("endpoints")
                .addObject()
                .put("part", each.part())
                .put("serves", each.serves())
                .put("address", each.address())
                .put("pid", each.pid()));
        ArrayNode seen = root.putArray("check");
        check.forEach(each -> seen.addObject()
                .put("where", each.where())
                .put("putMillis", rounded(each.write()))
                .put("deleteMillis", rounded(each.delete())));
        hints.forEach(root.withArray("hints")::add);
        try {
            return mapper.writerWithDefaultPrettyPrinter().writeValueAsString(root);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("cannot write JSON", e);
        }
    }

    private static String millis(Duration duration) {
        return String.format(Locale.ROOT, "%.1f", rounded(duration));
    }

    private static double rounded(Duration duration) {
        return Math.round(duration.toNanos() / 1e5) / 10.0;
    }
}
