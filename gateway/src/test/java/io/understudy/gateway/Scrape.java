package io.understudy.gateway;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;

/** The metrics of a server at {@code /metrics}. */
final class Scrape {

    private Scrape() {}

    /** The sum of all values of a metric, whatever their labels; 0 if there is none. */
    static double sum(URI server, String metric) {
        String page;
        try (var in = server.resolve("/metrics").toURL().openStream()) {
            page = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return page.lines()
                .filter(line -> line.startsWith(metric + " ") || line.startsWith(metric + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
