package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.dashboard.PageServer.Received;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.interactions.Actions;

/** The time that the charts show. The test provides the data of the page. */
@ExtendWith(StagedPage.class)
@Timeout(60)
@Tag("browser")
final class ChartsIT {

    private static final String SAMPLES = "/v1/overview/samples";
    private static final long MINUTE = 60_000;
    private static final Offset<Long> SOME_SECONDS = Offset.offset(30_000L);

    private final Browser browser;
    private final PageServer server;
    private final long now = System.currentTimeMillis();

    ChartsIT(Browser browser, PageServer server) {
        this.browser = browser;
        this.server = server;
        server.history(samples(now - 15 * MINUTE, 1_000, 900, 1));
        server.older(request -> samples(from(request), 15_000, (int) ((now - from(request)) / 15_000), 2));
    }

    @Test
    void longerRangesAreLoadedFromTheGateway() {
        show();
        assertThat(title()).isEqualTo("The last 15 minutes");
        assertThat(browser.text(".range")).doesNotContain("Each point");
        browser.tabTo("input[name=range]");
        browser.press(Keys.ARROW_RIGHT);
        eventually().until(() -> title().equals("The last hour"));
        eventually().until(() -> browser.text("[data-chart=apply] .legend").contains("2"));
        assertThat(browser.text(".range")).contains("Each point: mean of 15 s");
        assertThat(browser.find("[data-chart=apply] .plot").getAttribute("aria-label"))
                .contains("The last hour", "this gateway 2 per s");
        assertThat(from(server.received(SAMPLES).get(0))).isCloseTo(now - 60 * MINUTE, SOME_SECONDS);

        browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT);
        eventually().until(() -> title().equals("The last 24 hours"));
        eventually().untilAsserted(() -> assertThat(server.received(SAMPLES))
                .last()
                .satisfies(request -> assertThat(from(request)).isCloseTo(now - 24 * 60 * MINUTE, SOME_SECONDS)));
        browser.press(Keys.ARROW_RIGHT);
        eventually().until(() -> title().equals("The last 15 minutes"));
        eventually().until(() -> browser.text("[data-chart=apply] .legend").contains("1"));
        browser.assertNoComplaints();
    }

    @Test
    void aDraggedPartIsZoomedIntoInAllCharts_untilItIsReset() {
        show();
        WebElement plot = browser.find("[data-chart=apply] .u-over");
        int third = plot.getSize().getWidth() / 3;
        new Actions(browser.driver())
                .moveToElement(plot, -third / 2, 0)
                .clickAndHold()
                .moveByOffset(third / 2, 0)
                .moveByOffset(third - third / 2, 0)
                .release()
                .perform();
        eventually().until(() -> title().matches("\\d\\d:\\d\\d:\\d\\d to \\d\\d:\\d\\d:\\d\\d"));
        assertThat(window().get(1) - window().get(0))
                .isCloseTo(Duration.ofMinutes(5).toMillis(), SOME_SECONDS);
        assertThat(browser.all(".plot"))
                .allSatisfy(each -> assertThat(each.getAttribute("aria-label")).contains(title()));
        assertThat(server.received(SAMPLES)).isEmpty();

        browser.find(".reset").sendKeys(Keys.ENTER);
        eventually().until(() -> title().equals("The last 15 minutes"));
        assertThat(browser.has(".reset")).isFalse();
        browser.assertNoComplaints();
    }

    @Test
    void theKeyboardZoomsAndMoves() {
        show();
        press("Zoom in");
        eventually().until(() -> browser.has(".reset"));
        long end = window().get(1);
        assertThat(window().get(0)).isEqualTo(end - 450_000);
        press("Earlier");
        press("Earlier");
        press("Earlier");
        eventually().until(() -> window().equals(List.of(end - 1_125_000, end - 675_000)));
        eventually().until(() -> !server.received(SAMPLES).isEmpty());
        press("Zoom out");
        eventually().until(() -> window().equals(List.of(end - 1_350_000, end - 450_000)));
        press("Later");
        eventually().until(() -> window().equals(List.of(end - 900_000, end)));
        browser.assertNoComplaints();
    }

    @Test
    void aFailureToLoadOlderSamplesIsReported() {
        server.older(null);
        show();
        browser.find("input[name=range][value='3600000']").sendKeys(Keys.SPACE);
        eventually().until(() -> browser.text(".range").contains("Older samples: as the test wants"));
    }

    private void show() {
        browser.show(server.url());
        eventually().until(() -> browser.text("[data-chart=apply] .legend").contains("1"));
    }

    private void press(String label) {
        browser.find(".steps button[aria-label='" + label + "']").sendKeys(Keys.ENTER);
    }

    private String title() {
        return browser.text("#charts-title");
    }

    private List<Long> window() {
        return browser.all("#charts-title time").stream()
                .map(each -> Instant.parse(each.getAttribute("datetime")).toEpochMilli())
                .toList();
    }

    private static long from(Received request) {
        return Long.parseLong(request.target().substring(request.target().indexOf("from=") + "from=".length()));
    }

    private static ObjectNode samples(long from, long step, int count, int value) {
        ObjectNode root =
                JsonNodeFactory.instance.objectNode().put("gateway", "berlin-1").put("step_ms", step);
        root.withArray("times");
        for (int i = 0; i < count; i++) {
            root.withArray("times").add(from + i * step);
            root.withObject("/series").withArray("apply").add(value);
        }
        return root;
    }
}
