package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is shown of the processes beside the gateway. The test provides the data of the page.
 *
 * <p>Tests invariant D2.
 */
@ExtendWith(StagedPage.class)
@Timeout(60)
@Tag("browser")
final class NeighboursIT {

    private static final String TARGET = "[data-node='etcd http://10.9.0.3:2379']";

    private final Browser browser;
    private final PageServer server;

    NeighboursIT(Browser browser, PageServer server) {
        this.browser = browser;
        this.server = server;
    }

    @Test
    void anObservingSupervisorIsHealthyAndShowsItsDecision() {
        show(overview -> {});
        assertThat(browser.text(".supervisor .head .mark.ok")).isEqualTo("active");
        assertThat(browser.text(".supervisor")).contains("3 voters, 3 healthy", "all healthy: nothing to do");
    }

    static Stream<Arguments> doubts() {
        return Stream.of(
                doubt("unknown: not asked yet", each -> each.put("standing", "unknown: not asked yet")),
                doubt("last check 1.0 min ago", each -> each.put("looked_at", "2026-11-22T18:39:00.100Z")),
                doubt("no check yet", each -> each.putNull("looked_at")));
    }

    private static Arguments doubt(String word, Consumer<ObjectNode> change) {
        return Arguments.of(word, change);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("doubts")
    void aSupervisorThatDoesNotLookOrKnowIsNotFine(String word, Consumer<ObjectNode> change) {
        show(overview -> change.accept((ObjectNode) overview.at("/supervisors/0")));
        assertThat(browser.text(".supervisor .head .mark.warn")).isEqualTo(word);
    }

    @Test
    void whatASupervisorSawBeforeTheVotersFellSilentIsNotWhatItSees() {
        show(overview -> ((ObjectNode) overview.at("/supervisors/0"))
                .put("standing", "unknown: none of [http://10.0.1.11:2379] did what was asked")
                .put("quorum_at", "2026-11-22T18:39:55.000Z")
                .putObject("decision")
                .put("rule", "unobservable")
                .put("observed", "nobody answers")
                .put("action", "nothing is changed"));
        assertThat(browser.text(".supervisor .quorum"))
                .containsPattern("Last observed at 2026-11-2\\d [\\d:]{8}: 3 voters, 3 healthy");
        assertThat(browser.text(".supervisor")).doesNotContain("Observed:");
    }

    @Test
    void whatASupervisorSawLongAgoIsNotWhatItSees() {
        show(overview -> ((ObjectNode) overview.at("/supervisors/0")).put("quorum_at", "2026-11-22T18:39:40.000Z"));
        assertThat(browser.text(".supervisor .quorum")).startsWith("Last observed at");
    }

    @Test
    void aSupervisorThatLooksSeldomIsFineForThreeOfItsLooks() {
        show(overview -> ((ObjectNode) overview.at("/supervisors/0"))
                .put("pace_ms", 21_000)
                .put("looked_at", "2026-11-22T18:39:00.100Z")
                .put("quorum_at", "2026-11-22T18:39:00.000Z"));
        assertThat(browser.text(".supervisor .head .mark.ok")).isEqualTo("active");
        assertThat(browser.text(".supervisor .quorum")).startsWith("Observed: 3 voters");
    }

    @Test
    void aSupervisorThatMissedThreeOfItsLooksIsNot() {
        show(overview -> ((ObjectNode) overview.at("/supervisors/0"))
                .put("pace_ms", 19_000)
                .put("looked_at", "2026-11-22T18:39:00.100Z"));
        assertThat(browser.text(".supervisor .head .mark.warn")).isEqualTo("last check 1.0 min ago");
    }

    @Test
    void aTimeOfAnotherDayHasTheDateOfWhereItsReaderIs() {
        browser.driver().executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", "Asia/Tokyo"));
        try {
            show(overview -> ((ObjectNode) overview.at("/supervisors/0/events/0")).put("at", "2026-01-01T23:30:00Z"));
            assertThat(browser.text(".events li .when")).isEqualTo("2026-01-02 08:30:00");
        } finally {
            browser.driver().executeCdpCommand("Emulation.setTimezoneOverride", Map.of("timezoneId", ""));
        }
    }

    @Test
    void theLastFiguresOfAnUnreachableGatewayAreNotShown() {
        show(overview -> ((ObjectNode) overview.at("/gateways/0"))
                .put("reachable", false)
                .put("message", "refused"));
        assertThat(browser.all("[data-gateway='http://10.3.0.7:8080'] td.number"))
                .hasSize(4)
                .allSatisfy(figure -> assertThat(figure.getText()).startsWith("–"));
    }

    @Test
    void aMirrorWithAStandbyIsOne_whicheverProcessIsNamedFirst() {
        show(overview -> standby(overview, "etcd [http://10.9.0.3:2379]"));
        assertThat(browser.all("[data-mirror=dr]")).hasSize(1);
        assertThat(browser.text("[data-mirror=dr]")).contains("synced", "standby: 10.2.0.10:8081");
        assertThat(browser.all(".node.mirror")).hasSize(3);
        assertThat(browser.text("[data-node='mirror dr']")).contains("standby: 10.2.0.10:8081");
        assertThat(browser.text(TARGET)).contains("41 ms");
        assertThat(browser.text("#topology")).doesNotContain("also writes to");
    }

    @Test
    void aMirrorWithoutAnActiveProcessIsAWarning() {
        show(overview -> {
            ((ObjectNode) overview.at("/mirrors/0")).put("reachable", false).put("message", "refused");
            standby(overview, "etcd [http://10.9.0.3:2379]");
        });
        assertThat(browser.text("[data-mirror=dr] .mark.warn")).isEqualTo("no active process");
        assertThat(browser.text("[data-node='mirror dr']")).contains("no active process", "unreachable: 10.2.0.9:8081");
        assertThat(browser.text("[data-face='mirror dr']")).contains("Mirror dr has no active process");
    }

    @Test
    void aMirrorWithADifferingTargetIsShownBeforeItsStandby() {
        show(overview -> {
            ((ObjectNode) overview.at("/mirrors/0/mirrors/0"))
                    .put("state", "differs")
                    .put("reason", "3 keys of the target differ");
            standby(overview, "etcd [http://10.9.0.3:2379]");
        });
        assertThat(browser.text("[data-mirror=dr] .mark.bad")).isEqualTo("differs");
        assertThat(browser.text(TARGET)).contains("41 ms");
    }

    @Test
    void aReasonIsThatOfThePresentState() {
        show(overview -> ((ObjectNode) overview.at("/mirrors/0/mirrors/0"))
                .put("state", "syncing")
                .put("reason", "rest of the snapshot")
                .put("lastError", "both clusters hold the primary role"));
        assertThat(browser.text("[data-mirror=dr] .reason")).isEqualTo("rest of the snapshot");
    }

    @Test
    void aStandbyAfterATakeoverShowsItsReasonNotACheckpoint() {
        String why = "the home of mirror dr has moved to its target, cluster c. Use \"understudy mirror failback\"";
        show(overview -> ((ObjectNode) overview.at("/mirrors/0/mirrors/0"))
                .put("state", "standby")
                .put("reason", why)
                .put("lastError", "no leader")
                .putNull("checkpoint"));
        assertThat(browser.has("[data-mirror=dr] .mark.ok")).isTrue();
        assertThat(browser.text("[data-mirror=dr]"))
                .contains(why, "not read while standby")
                .doesNotContain("none yet", "no leader");
        assertThat(browser.find("[data-node='mirror dr'] .reason").getAttribute("title"))
                .isEqualTo(why);
    }

    @Test
    void mirrorsOfTheSameNameAreDistinct() {
        show(overview -> standby(overview, "etcd [http://10.9.0.4:2379]")
                .put("label", "dr at 10.2.0.10:8081")
                .put("state", "synced")
                .put("lagMillis", 7));
        assertThat(browser.text(TARGET)).contains("41 ms");
        assertThat(browser.text("[data-node='etcd http://10.9.0.4:2379']")).contains("7 ms");
        assertThat(browser.all(".node.mirror")).hasSize(4);
        assertThat(browser.all(".line[data-line^='line mirror dr']")).hasSize(2);
    }

    /** A second process of the mirror dr, named before the other. */
    private static ObjectNode standby(ObjectNode overview, String target) {
        ArrayNode processes = (ArrayNode) overview.get("mirrors");
        ObjectNode process = processes.get(0).deepCopy();
        ArrayNode mirrors = (ArrayNode) process.put("url", "http://10.2.0.10:8081")
                .put("reachable", true)
                .putNull("message")
                .get("mirrors");
        while (mirrors.size() > 1) {
            mirrors.remove(1);
        }
        processes.insert(0, process);
        return ((ObjectNode) mirrors.get(0))
                .put("state", "standby")
                .put("target", target)
                .put("reason", "waits: w is active")
                .putNull("lagMillis")
                .putNull("lagRevisions");
    }

    private void show(Consumer<ObjectNode> change) {
        server.show(change);
        browser.show(server.url());
        eventually().until(() -> browser.has("[data-phase=live]") && browser.has("[data-node=core]"));
    }
}
