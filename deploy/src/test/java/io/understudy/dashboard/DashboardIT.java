package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static io.understudy.dashboard.Browser.within;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/**
 * The page before a real cluster: it shows what the API returns, and every fault; how soon is a test of speed.
 *
 * <p>Tests invariants D2, D2b.
 */
@Timeout(90)
final class DashboardIT {

    @RegisterExtension
    static final EtcdExtension CORE = EtcdExtension.voters(3).learners(1).named("core");

    @RegisterExtension
    static final EtcdExtension DR = EtcdExtension.voters(1).named("dr");

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @TempDir
    private static Path folder;

    private static Browser browser;
    private static Scene scene;

    @BeforeAll
    static void start() throws Exception {
        browser = Browser.open();
        scene = Scene.start(CORE.cluster(), DR.cluster(), folder);
        for (int i = 0; i < 5; i++) {
            put("key/" + i);
        }
    }

    @AfterAll
    static void stop() {
        if (scene != null) {
            scene.close();
        }
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void show() {
        browser.show(scene.url());
        eventually().untilAsserted(() -> {
            assertThat(browser.has("[data-phase=live]")).as("live").isTrue();
            assertThat(browser.all(".face").stream().map(WebElement::getText))
                    .as("faults")
                    .isEmpty();
            assertThat(browser.all(".mark.ok")).as("checks that hold").hasSizeGreaterThan(10);
            assertThat(browser.text("[data-mirror=dr]")).contains("synced");
        });
        var unused = browser.complaints();
    }

    @AfterEach
    void mend() {
        scene.mend();
        CORE.cluster().mend();
    }

    @Test
    void thePageShowsTheValuesOfTheApi() {
        eventually().untilAsserted(() -> {
            JsonNode overview = overview();
            JsonNode gateway = overview.get("gateway");
            assertThat(amount("revision")).isEqualTo(number(gateway.get("revision")));
            assertThat(amount("keys")).isEqualTo(number(gateway.get("keys")));
            assertThat(amount("watchers")).isEqualTo(number(gateway.get("watchers")));
            assertThat(browser.text("[data-figure=quorum]")).contains("3 of 3", "Quorum held");
            assertThat(browser.text("#footer"))
                    .contains(
                            gateway.get("version").textValue(),
                            gateway.get("cluster_id").textValue());
            for (JsonNode check : gateway.get("checks")) {
                assertThat(browser.text("[data-check='" + check.get("name").textValue() + "']"))
                        .contains("ok");
            }

            JsonNode members = overview.at("/core/members");
            assertThat(browser.all("[data-member]")).hasSize(members.size()).hasSize(4);
            for (JsonNode member : members) {
                String id = member.get("id").textValue();
                assertThat(browser.text("[data-member='" + id + "']"))
                        .contains(
                                member.get("name").textValue(),
                                id,
                                member.get("role").textValue())
                        .contains("healthy", member.get("version").textValue(), number(member.get("revision")));
                assertThat(browser.has("[data-member='" + id + "'] .role.leader"))
                        .isEqualTo(member.get("leads").booleanValue());
                assertThat(browser.text("[data-seat='" + id + "']"))
                        .contains(member.get("name").textValue());
            }

            JsonNode mirror = overview.at("/mirrors/0/mirrors/0");
            assertThat(browser.text("[data-mirror=dr]"))
                    .contains(mirror.get("state").textValue())
                    .contains("revision " + number(mirror.at("/checkpoint/revision")))
                    .contains("epoch " + mirror.at("/checkpoint/epoch").longValue())
                    .contains(mirror.get("lagRevisions").longValue() + " revisions");
            assertThat(browser.text("[data-gateway='" + scene.otherUrl() + "']"))
                    .contains("other", "ready", number(overview.at("/gateways/0/revision")));
            assertThat(browser.all(".node")).hasSize(5);
        });
        browser.assertNoComplaints();
    }

    @Test
    void chartsHaveWhatWasSampled() {
        eventually()
                .until(() -> browser.all(".chart .nothing").stream().noneMatch(WebElement::isDisplayed)
                        || browser.text("[data-chart=apply] .legend").matches("(?s).*\\d.*"));
        // The mirror is read separately.
        eventually().until(() -> browser.text("[data-chart=lag] .legend").contains("dr"));
        assertThat(browser.find("[data-chart=staleness] .plot").getAttribute("aria-label"))
                .containsPattern(
                        "Staleness, chart: The last 15 minutes. At the end: mean [0-9.,]+ ms, min [0-9.,]+ ms, max [0-9.,]+ ms");
    }

    @Test
    @Tag("speed")
    void aPausedMirrorIsShownWithinThreeSeconds() {
        scene.mirror().pause();
        within(Duration.ofSeconds(3))
                .until(() -> browser.text("#banners").matches("(?s).*Mirror process \\S+ is unreachable.*"));
        scene.mirror().resume();
    }

    @Test
    void aKilledVotingMemberIsShown() {
        EtcdMember killed = CORE.cluster().followers().get(0);
        String id = String.format(Locale.ROOT, "%x", killed.id());
        killed.kill();
        eventually()
                .until(() -> browser.text("[data-member='" + id + "']").contains("unreachable")
                        && browser.has("[data-face='member " + id + "']")
                        && browser.text("[data-figure=quorum]").contains("2 of 3"));
        assertThat(browser.text("[data-figure=quorum]")).contains("Quorum held");
    }

    @Test
    void aLostQuorumIsShown_andKeysCanStillBeRead() {
        CORE.cluster().followers().forEach(EtcdMember::kill);
        eventually().until(() -> browser.has("[data-face=quorum]"));
        assertThat(browser.text("[data-face=quorum]")).contains("Available", "serializable reads");
        browser.find("#prefix").sendKeys("key/", Keys.ENTER);
        eventually().until(() -> browser.all(".key").size() == 5);
    }

    @Test
    void aPausedMirrorIsShown() {
        scene.mirror().pause();
        eventually()
                .until(() -> browser.text("#banners").matches("(?s).*Mirror process \\S+ is unreachable.*")
                        && browser.text("[data-node='mirror dr']").contains("unreachable"));
        scene.mirror().resume();
        eventually().until(() -> !browser.has(".face"));
    }

    @Test
    void aCutLinkIsShown() {
        scene.linkToOther().cut();
        eventually()
                .until(() -> browser.has("[data-face='" + scene.otherUrl() + "']")
                        && browser.has(".line.bad[data-line='line gateway " + scene.otherUrl() + "']"));
        scene.linkToOther().heal();
        eventually().until(() -> !browser.has(".face"));
    }

    @Test
    void thePageReconnectsAfterARestartOfTheGateway() {
        long before = overview().at("/gateway/revision").longValue();
        scene.stopGateway();
        eventually().until(() -> browser.has("[data-face=disconnected]"));
        put("key/0");
        scene.startGateway();
        eventually().untilAsserted(() -> {
            assertThat(browser.has("[data-phase=live]")).isTrue();
            assertThat(browser.has(".face")).isFalse();
            long now = overview().at("/gateway/revision").longValue();
            assertThat(now).isGreaterThan(before);
            assertThat(amount("revision")).isEqualTo(number(now));
        });
    }

    @Test
    void whatOtherTestsMakeUpHasNoFieldsButThoseOfARealOverview() {
        JsonNode overview = overview();
        JsonNode madeUp = PageServer.healthy();
        for (String part : List.of(
                "",
                "/gateway",
                "/gateway/source",
                "/core",
                "/core/members/0",
                "/gateways/0",
                "/gateways/0/source",
                "/mirrors/0",
                "/mirrors/0/mirrors/0")) {
            assertThat(overview.at(part).fieldNames()).toIterable().as(part).containsAll(() -> madeUp.at(part)
                    .fieldNames());
        }
    }

    private static void put(String key) {
        assertThat(CORE.cluster().etcdctl("put", key, "value")).contains("OK");
    }

    private static String amount(String figure) {
        return browser.text("[data-figure=" + figure + "] .amount");
    }

    private static String number(JsonNode node) {
        return number(node.longValue());
    }

    private static String number(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private static JsonNode overview() {
        try {
            return JsonMapper.builder()
                    .build()
                    .readTree(HTTP.send(
                                    HttpRequest.newBuilder(URI.create(scene.url() + "v1/overview"))
                                            .build(),
                                    HttpResponse.BodyHandlers.ofString())
                            .body());
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
