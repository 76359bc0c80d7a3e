package io.understudy.advisories;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class AdvisoryTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static final String TWO_LINES = """
            {"id": "GHSA-1", "aliases": ["CVE-1"], "summary": "loops", "affected": [
              {"package": {"ecosystem": "Maven", "name": "io.netty:netty-codec"},
               "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "4.1.133"}]}]},
              {"package": {"ecosystem": "Maven", "name": "io.netty:netty-codec"},
               "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "4.2.0.Alpha1"}, {"fixed": "4.2.13"}]}]},
              {"package": {"ecosystem": "Maven", "name": "io.netty:netty-closed"},
               "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1.2"}, {"last_affected": "1.4"}]}]},
              {"package": {"ecosystem": "npm", "name": "plot"}, "versions": ["1.6.30"]}]}
            """;

    @ParameterizedTest
    @CsvSource({
        "io.netty:netty-codec, 4.1.132.Final, true",
        "io.netty:netty-codec, 4.1.133.Final, false",
        "io.netty:netty-codec, 4.2.0.Alpha1, true",
        "io.netty:netty-codec, 4.2.9.Final, true",
        "io.netty:netty-codec, 4.2.13.Final, false",
        "io.netty:netty-closed, 1.1, false",
        "io.netty:netty-closed, 1.2, true",
        "io.netty:netty-closed, 1.4, true",
        "io.netty:netty-closed, 1.4.1, false",
        "io.netty:netty-other, 4.2.9.Final, false"
    })
    void aVersionIsAffectedFromWhereItBeganToWhereItWasMended(String name, String version, boolean affected)
            throws Exception {
        assertThat(new Advisory(JSON.readTree(TWO_LINES))
                        .in(new Library("Maven", name, version))
                        .isPresent())
                .isEqualTo(affected);
    }

    @Test
    void aFindingNamesLibraryFlawAndTheVersionsWithout() throws Exception {
        assertThat(new Advisory(JSON.readTree(TWO_LINES))
                        .in(new Library("Maven", "io.netty:netty-codec", "4.2.9.Final")))
                .hasToString("Optional[io.netty:netty-codec 4.2.9.Final has GHSA-1, CVE-1, fixed in 4.2.13: loops]");
    }

    @Test
    void whatIsShippedFromNpmHasItsFlawsThere() throws Exception {
        JsonNode component = JSON.readTree("{\"purl\": \"pkg:maven/org.webjars.npm/plot@1.6.30?type=jar\"}");

        assertThat(Library.of(component)).contains(new Library("npm", "plot", "1.6.30"));
        assertThat(new Advisory(JSON.readTree(TWO_LINES))
                        .in(Library.of(component).orElseThrow()))
                .isPresent();
    }

    @Test
    void whatWasWithdrawnIsNoFlaw() throws Exception {
        String withdrawn = TWO_LINES.replace("\"aliases\"", "\"withdrawn\": \"2026-01-01T00:00:00Z\", \"aliases\"");

        assertThat(new Advisory(JSON.readTree(withdrawn))
                        .in(new Library("Maven", "io.netty:netty-codec", "4.2.9.Final")))
                .isEmpty();
    }
}
