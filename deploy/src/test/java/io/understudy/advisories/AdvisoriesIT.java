package io.understudy.advisories;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.understudy.advisories.Advisory.Finding;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/**
 * Compares the shipped libraries with a list of known vulnerabilities, if one is given: a folder of OSV files.
 *
 * <p>Neither the list nor a way to fetch it is part of the build, which needs no network.
 */
final class AdvisoriesIT {

    private static final Path BILL =
            Path.of(System.getProperty("understudy.distribution")).resolve("understudy.cdx.json");

    private static final String FOLDER = "UNDERSTUDY_ADVISORIES";

    /** Flaws that stay, by their advisories, and why they may. */
    private static final Map<String, String> ACCEPTED = Map.of(
            "GHSA-34q8-jcq6-mc37",
            "uPlot merges options of nobody but our page, and 1.6.31 is not published as an artifact of Maven");

    private final ObjectMapper json = new ObjectMapper();

    @Test
    void whatIsShippedHasNoKnownFlaw() throws Exception {
        String given = System.getenv(FOLDER);
        Assumptions.assumeTrue(given != null, FOLDER + " names no folder with files of OSV");
        Path folder = Path.of(given);
        List<Library> libraries = new ArrayList<>();
        json.readTree(BILL.toFile()).path("components").forEach(each -> Library.of(each)
                .ifPresent(libraries::add));
        List<Path> files = advisories(folder);

        assertThat(libraries).as("libraries in %s", BILL).isNotEmpty();
        assertThat(files).as("files of OSV in %s", folder).isNotEmpty();
        List<Finding> findings = new ArrayList<>();
        for (Path file : files) {
            Advisory advisory = new Advisory(json.readTree(file.toFile()));
            if (Collections.disjoint(ACCEPTED.keySet(), advisory.names())) {
                libraries.stream().map(advisory::in).flatMap(Optional::stream).forEach(findings::add);
            }
        }
        assertThat(findings)
                .as("%d libraries compared with %d advisories", libraries.size(), files.size())
                .isEmpty();
    }

    private static List<Path> advisories(Path folder) throws Exception {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".json")).toList();
        }
    }
}
