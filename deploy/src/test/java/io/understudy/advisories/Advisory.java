package io.understudy.advisories;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.maven.artifact.versioning.ComparableVersion;

/** A known flaw, in the format of <a href="https://ossf.github.io/osv-schema/">OSV</a>. */
final class Advisory {

    /** Before all versions. */
    private static final String BEGINNING = "0";

    private final JsonNode json;

    Advisory(JsonNode json) {
        this.json = json;
    }

    /** Its own first, then those that other lists have for it. */
    List<String> names() {
        List<String> names = new ArrayList<>(List.of(json.path("id").asText()));
        json.path("aliases").forEach(alias -> names.add(alias.asText()));
        return names;
    }

    /** What to do about it, if it is in this version of the library. */
    Optional<Finding> in(Library library) {
        if (json.hasNonNull("withdrawn")) {
            return Optional.empty();
        }
        boolean affected = false;
        List<String> fixed = new ArrayList<>();
        for (JsonNode each : json.path("affected")) {
            if (each.path("package").path("ecosystem").asText().equals(library.ecosystem())
                    && each.path("package").path("name").asText().equals(library.name())) {
                affected |= lists(each.path("versions"), library.version());
                for (JsonNode range : each.path("ranges")) {
                    if (range.path("type").asText().equals("GIT")) {
                        // Of commits, which have no order.
                        continue;
                    }
                    affected |= covers(range.path("events"), library.version());
                    range.path("events").findValuesAsText("fixed").forEach(fixed::add);
                }
            }
        }
        if (!affected) {
            return Optional.empty();
        }
        ComparableVersion present = new ComparableVersion(library.version());
        List<String> later = fixed.stream()
                .map(ComparableVersion::new)
                .filter(version -> version.compareTo(present) > 0)
                .sorted()
                .distinct()
                .map(ComparableVersion::toString)
                .toList();
        return Optional.of(new Finding(library, names(), json.path("summary").asText(), later));
    }

    private static boolean lists(JsonNode versions, String version) {
        for (JsonNode each : versions) {
            if (each.asText().equals(version)) {
                return true;
            }
        }
        return false;
    }

    /** The last event up to the version, in the order of versions, decides. */
    private static boolean covers(JsonNode events, String version) {
        ComparableVersion compared = new ComparableVersion(version);
        List<Turn> turns = new ArrayList<>();
        for (JsonNode event : events) {
            event.properties().forEach(each -> turns.add(Turn.of(each.getKey(), each.getValue())));
        }
        turns.sort(Comparator.comparing(Turn::at));
        boolean affected = false;
        for (Turn turn : turns) {
            int order = turn.at().compareTo(compared);
            switch (turn.kind()) {
                case "introduced" -> affected |= order <= 0;
                case "fixed" -> affected &= order > 0;
                case "last_affected" -> affected &= order >= 0;
                default -> {
                    // A limit is of ranges of commits.
                }
            }
        }
        return affected;
    }

    private record Turn(String kind, ComparableVersion at) {

        static Turn of(String kind, JsonNode version) {
            // Maven counts alphas and betas of the first version as older than it.
            return new Turn(
                    kind, new ComparableVersion(version.asText().equals(BEGINNING) ? "0-alpha-0" : version.asText()));
        }
    }

    /**
     * A flaw in what is shipped.
     *
     * @param names of the flaw, the advisory's own first
     * @param fixed versions without it, later than the one that is shipped
     */
    record Finding(Library library, List<String> names, String summary, List<String> fixed) {

        @Override
        public String toString() {
            return "%s %s has %s, %s: %s"
                    .formatted(
                            library.name(),
                            library.version(),
                            String.join(", ", names),
                            fixed.isEmpty() ? "fixed nowhere" : "fixed in " + String.join(", ", fixed),
                            summary);
        }
    }
}
