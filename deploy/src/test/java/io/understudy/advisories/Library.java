package io.understudy.advisories;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a bill of materials lists, as lists of flaws name it.
 *
 * @param ecosystem where it is published
 * @param name with its group, as {@code group:artifact} in the ecosystem {@code Maven}
 */
record Library(String ecosystem, String name, String version) {

    private static final Pattern MAVEN = Pattern.compile("pkg:maven/([^/]+)/([^@]+)@([^?#]+).*");

    /** Packages of npm, which are shipped as artifacts of Maven and have their flaws where they come from. */
    private static final String FROM_NPM = "org.webjars.npm";

    /** None for what is not an artifact of Maven. */
    static Optional<Library> of(JsonNode component) {
        Matcher url = MAVEN.matcher(component.path("purl").asText());
        if (!url.matches()) {
            return Optional.empty();
        }
        return Optional.of(
                url.group(1).equals(FROM_NPM)
                        ? new Library("npm", url.group(2), url.group(3))
                        : new Library("Maven", url.group(1) + ":" + url.group(2), url.group(3)));
    }
}
