package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.groups.Tuple.tuple;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.understudy.dashboard.PageServer.Commits;
import io.understudy.dashboard.PageServer.Received;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Streams that end, fall silent, or come from elsewhere. The test provides the data of the page.
 *
 * <p>Tests invariant D2b.
 */
@ExtendWith(StagedPage.class)
@Timeout(60)
@Tag("browser")
final class StreamsIT {

    private static final String OVERVIEWS = "/v1/overview/events";
    private static final String WATCH = "/v1/watch";
    private static final long SECOND = 1_000;

    private final Browser browser;
    private final PageServer server;

    StreamsIT(Browser browser, PageServer server) {
        this.browser = browser;
        this.server = server;
    }

    @Test
    void aWatchReportsAGapAndResumesBehindIt() {
        server.commits(request -> {
            if (request.target().contains("&revision=")) {
                return new Commits(60_000, commit(10, "after"), false);
            }
            return request.lastId() == null
                    ? new Commits(60_000, "id: 4\n\n" + commit(5, "before"), true)
                    : new Commits(60_000, "event: gap\ndata: {\"compact_revision\":8,\"revision\":9}\n\n", true);
        });
        watch();
        eventually().until(() -> browser.text(".watch .history").contains("after"));
        assertThat(browser.text(".watch .gap")).contains("up to revision 9");
        assertThat(browser.text(".watch .history")).contains("before");
        assertThat(server.received(WATCH))
                .extracting(Received::target, Received::lastId)
                .containsExactly(
                        tuple("/v1/watch?prefix=", null),
                        tuple("/v1/watch?prefix=", "5"),
                        tuple("/v1/watch?prefix=&revision=10", null));
    }

    @Test
    void repeatedDisconnectsIncreaseTheBackoff() {
        server.commits(request -> new Commits(60_000, "id: 4\n\n", true));
        watch();
        eventually().until(() -> server.received(WATCH).size() >= 4);
        List<Received> received = server.received(WATCH);
        assertThat(Duration.ofNanos(received.get(3).nanos() - received.get(2).nanos()))
                .isGreaterThan(Duration.ofMillis(700));
    }

    @Test
    void aWatchWithoutHeartbeatsReconnects() {
        server.commits(request -> new Commits(100, "id: 4\n\n", false));
        watch();
        eventually().until(() -> server.received(WATCH).size() >= 2);
        assertThat(server.received(WATCH).get(1).lastId()).isEqualTo("4");
    }

    @Test
    void anAbandonedConnectionDeliversNoEvents() {
        browser.show(server.url());
        assertThat(browser.evaluate("stream.js", """
                        (async () => {
                          const told = [];
                          const bodies = ['data: 1\\n\\ndata: 2\\n\\n', 'data: 3\\n\\n'];
                          const fetched = window.fetch;
                          window.fetch = async () => new Response(new ReadableStream({
                            start: (body) => body.enqueue(new TextEncoder().encode(bodies.shift())) }));
                          await new Promise((done) => {
                            const stream = it.openStream('/', () => 60000, {
                              opened: () => {}, lost: () => {}, refused: () => {},
                              event: ({ data }) => {
                                told.push(data);
                                if (data === '3') {
                                  stream.close();
                                  done();
                                } else if (told.length === 1) {
                                  stream.retry(true);
                                }
                              },
                            });
                          });
                          window.fetch = fetched;
                          return told;
                        })()""")).isEqualTo(List.of("1", "3"));
    }

    @Test
    void anotherGatewayBehindTheSameAddressHasChartsOfItsOwn() {
        long now = System.currentTimeMillis();
        server.history(samples("berlin-1", now - 20 * SECOND, 10));
        browser.show(server.url());
        eventually().until(() -> charted().size() == 10);

        server.vanish();
        try (PageServer other = PageServer.start(server.port())) {
            other.history(samples("edge-oslo", now - 9 * SECOND, 7));
            other.show(overview -> ((ObjectNode) overview.get("gateway")).put("name", "edge-oslo"));
            eventually().until(() -> browser.text("#identity").contains("edge-oslo"));
            assertThat(charted()).hasSize(7).first().isEqualTo(now - 9 * SECOND);
            List<Received> received = other.received(OVERVIEWS);
            assertThat(received.get(0).lastId()).isNotNull();
            assertThat(received.get(1).lastId()).isNull();
            assertThat(received).hasSize(2);
        }
    }

    @Test
    void samplesAreChartedAfterAClockIsSetBack() {
        long now = System.currentTimeMillis();
        server.history(samples("berlin-1", now, 10));
        browser.show(server.url());
        eventually().until(() -> charted().size() == 10);
        server.show(overview -> overview.putObject("sample")
                .put("time", now - 60 * SECOND)
                .putObject("values")
                .put("apply", 7));
        eventually().until(() -> charted().equals(List.of(now - 60 * SECOND)));
        assertThat(browser.text("[data-chart=apply] .legend")).contains("7");
    }

    @Test
    void aSampleWithNoneBesideItIsDrawnAsAPoint() {
        long now = System.currentTimeMillis();
        ObjectNode samples = samples("berlin-1", now - 600 * SECOND, 600);
        for (int i = 0; i < 600; i++) {
            samples.withArray("/series/latency.p50_ms").add(i == 300 ? JsonNodeFactory.instance.numberNode(2) : null);
        }
        server.history(samples);
        browser.show(server.url());
        eventually().until(() -> inked("latency", "--series-0") > 0);
        assertThat(inked("latency", "--series-0")).isLessThan(50);
    }

    @Test
    void theBandBetweenTheLowestAndTheHighestStalenessIsFilled() {
        long now = System.currentTimeMillis();
        ObjectNode samples = samples("berlin-1", now - 600 * SECOND, 600);
        for (int i = 0; i < 600; i++) {
            samples.withArray("/series/staleness_ms").add(100);
            samples.withArray("/series/staleness_ms.min").add(1);
            samples.withArray("/series/staleness_ms.max").add(200);
        }
        server.history(samples);
        browser.show(server.url());
        eventually().untilAsserted(() -> assertThat(browser.text("[data-chart=staleness] .legend"))
                .containsSubsequence("mean", "100", "min", "1", "max", "200"));
        eventually().until(() -> inked("staleness", "--series-band") > 5_000);
        assertThat(inked("latency", "--series-band")).isZero();
    }

    /** How many pixels of a chart have a colour of the theme. */
    private long inked(String chart, String colour) {
        return (Long) browser.driver().executeScript("""
                const canvas = document.querySelector(`[data-chart=${arguments[0]}] canvas`);
                const probe = document.createElement('canvas').getContext('2d');
                probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(arguments[1]);
                probe.fillRect(0, 0, 1, 1);
                const wanted = probe.getImageData(0, 0, 1, 1).data;
                const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
                let inked = 0;
                for (let i = 0; i < data.length; i += 4) {
                  inked += [0, 1, 2, 3].every((j) => Math.abs(data[i + j] - wanted[j]) < 8) ? 1 : 0;
                }
                return inked;""", chart, colour);
    }

    private void watch() {
        browser.show(server.url());
        eventually().until(() -> browser.has(".start-watch"));
        browser.find(".start-watch").click();
    }

    @SuppressWarnings("unchecked")
    private List<Object> charted() {
        return (List<Object>) browser.evaluate("state.js", "it.state.samples.times");
    }

    private static ObjectNode samples(String gateway, long from, int count) {
        ObjectNode root =
                JsonNodeFactory.instance.objectNode().put("gateway", gateway).put("step_ms", SECOND);
        for (int i = 0; i < count; i++) {
            root.withArray("times").add(from + i * SECOND);
            root.withObject("/series").withArray("apply").add(i);
        }
        return root;
    }

    private static String commit(long revision, String key) {
        return "id: " + revision + "\ndata: {\"revision\":" + revision + ",\"changes\":[{\"type\":\"put\",\"key\":\""
                + key
                + "\",\"key_encoding\":\"text\",\"value\":\"\",\"value_encoding\":\"text\",\"mod_revision\":" + revision
                + "}]}\n\n";
    }
}
