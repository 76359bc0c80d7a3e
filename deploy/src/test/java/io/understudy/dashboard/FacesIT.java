package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static io.understudy.dashboard.Browser.within;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.LIST;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.mirror.pipeline.MirrorState;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each state that matters has a face. The test provides the data of the page.
 *
 * <p>Tests invariant D2.
 */
@ExtendWith(StagedPage.class)
@Timeout(60)
@Tag("browser")
final class FacesIT {

    /** After which silence is called stale, and some more. */
    private static final Duration STALE = Duration.ofSeconds(5);

    private final Browser browser;
    private final PageServer server;

    FacesIT(Browser browser, PageServer server) {
        this.browser = browser;
        this.server = server;
    }

    @Test
    void withoutDataThePageShowsThatItWaits() {
        server.quiet(true);
        browser.show(server.url());
        eventually().until(() -> browser.text("#controls").contains("Waiting"));
        for (String part : Stream.of("topology", "members", "checks", "mirrors", "gateways", "events")
                .map(name -> "#" + name + "-body")
                .toList()) {
            assertThat(browser.text(part)).as(part).isEqualTo("Nothing to show yet");
        }
        assertThat(browser.all(".chart .nothing")).hasSize(8).allMatch(each -> each.isDisplayed());
        assertThat(browser.has(".face")).isFalse();
        browser.assertNoComplaints();
    }

    @Test
    void silenceIsCalledStale() {
        show();
        server.quiet(true);
        within(STALE).until(() -> browser.has("[data-face=stale]"));
        assertThat(browser.text("[data-face=stale]")).contains("No updates since");
        server.quiet(false);
        eventually().until(() -> !browser.has(".face"));
        browser.assertNoComplaints();
    }

    @Test
    void aLostConnectionIsShownWithTheTimeOfTheData() {
        show();
        server.vanish();
        eventually().until(() -> browser.has("[data-face=disconnected]"));
        assertThat(browser.text("[data-face=disconnected]"))
                .containsPattern("Disconnected since \\d\\d:\\d\\d:\\d\\d")
                .containsPattern("as of \\d\\d:\\d\\d:\\d\\d");
        assertThat(browser.text("[data-figure=revision]")).contains("184,223");

        try (PageServer back = PageServer.start(server.port())) {
            back.show(PageServer.healthy());
            eventually().until(() -> browser.has("[data-phase=live]") && !browser.has(".face"));
        }
    }

    @Test
    void aLostQuorumIsAnAlertThatNamesWhatStillWorks() {
        show();
        assertThat(browser.text("#alert")).isEmpty();
        server.show(overview -> {
            ObjectNode core = (ObjectNode) overview.get("core");
            core.put("quorum", "lost").put("healthy_voters", 1);
            for (int i : new int[] {1, 2}) {
                ((ObjectNode) core.get("members").get(i)).put("health", "unreachable");
            }
        });
        eventually().until(() -> browser.has("[data-face=quorum]"));
        assertThat(browser.find("#alert").getAttribute("role")).isEqualTo("alert");
        assertThat(browser.text("[data-face=quorum]"))
                .contains(
                        "Quorum lost", "1 of 3 voting members are healthy; 2 are required", "Available", "Unavailable");
        assertThat(browser.find("[data-face=quorum]").getRect().getHeight()).isGreaterThan(80);
        assertThat(browser.text("[data-node=core]")).contains("lost");
        browser.assertNoComplaints();
    }

    @Test
    void twoOfThreeVotersAreAWarningThatNamesWhatIsLeft() {
        show();
        server.show(overview -> {
            ObjectNode core = (ObjectNode) overview.get("core");
            core.put("healthy_voters", 2).put("tolerance", 0);
            ((ObjectNode) core.at("/members/1")).put("health", "unreachable");
        });
        eventually().until(() -> browser.has(".face.warn[data-face='member 91bc3c398fb3c146']"));
        assertThat(browser.text("#banners"))
                .isEqualTo("core-2 is unreachable. 2 of 3 voting members are healthy."
                        + " The quorum is held and tolerates no further failure.");
        assertThat(browser.text("[data-figure=quorum] .mark.warn")).isEqualTo("Quorum held, tolerates no failure");
        assertThat(browser.text(".node.warn[data-node=core] .standing"))
                .isEqualTo("quorum held, 2 of 3 voters healthy");
        assertThat(browser.text("#alert")).isEmpty();
        browser.assertNoComplaints();
    }

    @Test
    void theVersionsOfTheGatewayAndOfItsSourceAreShown() {
        show();
        assertThat(browser.text("#footer")).contains("Understudy gateway 3.5.0+understudy", "source etcd 3.5.30");
        assertThat(browser.text("[data-node=core]")).contains("etcd 3.5.30");
        server.show(overview -> ((ObjectNode) overview.at("/core/members/1")).put("version", "3.6.12"));
        eventually().until(() -> browser.text("#footer").contains("source etcd 3.5.30, 3.6.12"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1920, 1400, 1280, 360})
    void nothingIsCutOffOrCovered(int width) {
        browser.size(width, 1000);
        show();
        assertThat(browser.driver().executeScript("""
                        const parts = '.node .name, .node .below, .node .fact, .seat .name, .seat .below, .figure .below, .when, h2';
                        return [...document.querySelectorAll(parts)]
                          .filter((element) => element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1)
                          .map((element) => element.textContent.trim());""")).isEqualTo(List.of());
        assertThat(browser.driver().executeScript("""
                        const overlap = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
                        const boxes = [...document.querySelectorAll('.node, .tree.wide .feed')].map((each) => each.getBoundingClientRect());
                        return boxes.filter((one, i) => boxes.some((other, j) => j > i && overlap(one, other))).length;""")).isEqualTo(0L);
    }

    @Test
    void withoutAReachableVoterTheQuorumIsUnknown() {
        show();
        server.show(overview -> {
            ObjectNode core = (ObjectNode) overview.get("core");
            core.put("quorum", "unreachable").put("healthy_voters", 0);
        });
        eventually().until(() -> browser.has("[data-face=quorum]"));
        assertThat(browser.text("[data-face=quorum]"))
                .contains("No voting member reachable", "Quorum state unknown", "Available")
                .doesNotContain("lost");
        assertThat(browser.text("[data-node=core]")).contains("no voter reachable");
        browser.assertNoComplaints();
    }

    static Stream<Arguments> troubles() {
        return Stream.of(
                trouble(
                        "alarm NOSPACE",
                        "Writes are rejected: alarm NOSPACE on core-1",
                        "exceeds its space quota",
                        overview -> ((ObjectNode) overview.get("core"))
                                .putArray("alarms")
                                .addObject()
                                .put("kind", "NOSPACE")
                                .put("member", "core-1")),
                trouble("not-ready", "This gateway is not ready", "replica: too old", overview -> gateway(overview)
                        .put("ready", false)
                        .put("problem", "replica: too old")),
                trouble("staleness", "The replica is stale", "linearizable reads wait", overview -> gateway(overview)
                        .put("staleness_ms", 8_000)),
                trouble("member 91bc3c398fb3c146", "core-2 is unreachable", "", overview -> ((ObjectNode)
                                overview.at("/core/members/1"))
                        .put("health", "unreachable")),
                trouble("mirror dr", "Mirror dr is retrying", "no leader", overview -> mirror(overview)
                        .put("state", "retrying")
                        .put("reason", "no leader")),
                trouble("mirror dr", "Mirror dr has failed", "another epoch", overview -> mirror(overview)
                        .put("state", "failed")
                        .put("reason", "another epoch writes")),
                trouble("mirror dr", "Mirror dr is in conflict", "both clusters", overview -> mirror(overview)
                        .put("state", "conflict")
                        .put("reason", "both clusters hold the primary role")),
                trouble("mirror dr", "Mirror dr differs from its source", "3 keys", overview -> mirror(overview)
                        .put("state", "differs")
                        .put("reason", "3 keys of the target differ")),
                trouble(
                        "http://10.2.0.9:8081",
                        "Mirror process 10.2.0.9:8081 is unreachable",
                        "1000 ms",
                        overview -> ((ObjectNode) overview.at("/mirrors/0"))
                                .put("reachable", false)
                                .put("message", "no answer within 1000 ms")),
                trouble(
                        "http://10.3.0.7:8080",
                        "Gateway 10.3.0.7:8080 is unreachable",
                        "refused",
                        overview -> ((ObjectNode) overview.at("/gateways/0"))
                                .put("reachable", false)
                                .put("message", "refused")));
    }

    @ParameterizedTest(name = "{1}")
    @MethodSource("troubles")
    void troubleIsShownAsText(String face, String title, String text, Consumer<ObjectNode> change) {
        show();
        server.show(change);
        eventually().until(() -> browser.has("[data-face='" + face + "']"));
        assertThat(browser.text("[data-face='" + face + "']")).contains(title, text);
        assertThat(browser.find("#banners").getAttribute("role")).isEqualTo("status");
        browser.assertNoComplaints();
    }

    @Test
    void eachStateOfAMirrorHasALevel() {
        browser.show(server.url());
        assertThat(browser.evaluate("processes.js", "Object.keys(it.STATES)"))
                .asInstanceOf(LIST)
                .containsExactlyInAnyOrderElementsOf(
                        Stream.of(MirrorState.values()).map(MirrorState::word).toList());
    }

    @Test
    void aCoreThatTakesNoWritesIsNotFineInThePictureEither() {
        show();
        assertThat(browser.has("[data-node=core] .mark.standing")).isFalse();
        server.show(overview -> ((ObjectNode) overview.get("core"))
                .putArray("alarms")
                .addObject()
                .put("kind", "NOSPACE")
                .put("member", "core-1"));
        eventually().until(() -> browser.text("[data-node=core]").contains("quorum held, alarm NOSPACE"));
        browser.assertNoComplaints();
    }

    @Test
    void aLinkThatIsCutIsDrawnAsOne() {
        show();
        assertThat(browser.find(".line.ok[data-line='line mirror dr']").isDisplayed())
                .isTrue();
        server.show(overview -> ((ObjectNode) overview.at("/mirrors/0")).put("reachable", false));
        eventually().until(() -> browser.has(".line.bad[data-line='line mirror dr']"));
        assertThat(browser.text("[data-node='mirror dr']")).contains("down", "unreachable");
        assertThat(browser.has(".line.flows[data-line='flow mirror dr']")).isFalse();
    }

    @Test
    void fedFromKafkaThereAreNoMembersToShow() {
        server.show(overview -> {
            overview.putNull("core");
            gateway(overview).putObject("source").put("kind", "kafka").put("name", "understudy");
        });
        browser.show(server.url());
        eventually().until(() -> browser.text("#members-body").contains("Source is Kafka, topic understudy"));
        assertThat(browser.text("[data-node=source]")).contains("Kafka", "topic understudy");
        assertThat(browser.text("[data-figure=source]")).contains("Kafka", "topic understudy");
        browser.assertNoComplaints();
    }

    @Test
    void aUserWithoutRootSeesThatAndMayStillReadKeys() {
        server.refuse(403);
        browser.show(server.url());
        eventually().until(() -> browser.has("[data-login=refused]"));
        assertThat(browser.text("[data-login=refused]")).contains("role root", "as the test wants");
        assertThat(browser.find("#prefix").isEnabled()).isTrue();
        server.refuse(401);
        browser.driver().navigate().refresh();
        eventually().until(() -> browser.has("form[data-login=needed]"));
    }

    @Test
    void theThemeThatWasChosenIsRemembered() {
        show();
        String before = browser.find("html").getAttribute("data-theme");
        browser.find("#controls button[aria-label$=theme]").click();
        String after = browser.find("html").getAttribute("data-theme");
        assertThat(after).isNotEqualTo(before);
        browser.driver().navigate().refresh();
        assertThat(browser.find("html").getAttribute("data-theme")).isEqualTo(after);
    }

    @Test
    void whereMotionIsUnwantedNothingMoves() {
        show();
        eventually().until(() -> browser.has(".flow.flows"));
        assertThat(browser.find(".flow.flows").getCssValue("animation-name")).isEqualTo("none");
    }

    @Test
    void nothingMovesWhenFiguresChange() {
        show();
        browser.driver().executeScript("""
                window.moved = 0;
                new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.moved += entry.value; }))
                  .observe({ type: 'layout-shift', buffered: false });""");
        for (int i = 1; i <= 5; i++) {
            long revision = 184_223 + i * 7L;
            long staleness = i % 2 == 0 ? 8 : 940;
            double reads = i % 2 == 0 ? 9.5 : 98_765.4;
            server.show(overview -> gateway(overview)
                    .put("revision", revision)
                    .put("staleness_ms", staleness)
                    .put("reads_per_s", reads));
            eventually().until(() -> browser.text("[data-figure=revision]").contains("," + revision % 1000));
        }
        assertThat(((Number) browser.driver().executeScript("return window.moved")).doubleValue())
                .isLessThan(0.001);
    }

    private void show() {
        browser.show(server.url());
        eventually().until(() -> browser.has("[data-phase=live]") && browser.has("[data-node=core]"));
    }

    private static Arguments trouble(String face, String title, String text, Consumer<ObjectNode> change) {
        return Arguments.of(face, title, text, change);
    }

    private static ObjectNode gateway(ObjectNode overview) {
        return (ObjectNode) overview.get("gateway");
    }

    private static ObjectNode mirror(ObjectNode overview) {
        ArrayNode mirrors = (ArrayNode) overview.at("/mirrors/0/mirrors");
        return (ObjectNode) mirrors.get(0);
    }
}
