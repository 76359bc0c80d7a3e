package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.deque.html.axecore.results.Rule;
import com.deque.html.axecore.selenium.AxeBuilder;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Names, roles, landmarks and contrast, as axe-core checks them, in both themes, on a desk and in a hand.
 *
 * <p>Tests invariant D2d.
 */
@Timeout(120)
@Tag("browser")
final class AccessibilityIT {

    private static Browser browser;
    private static PageServer server;

    @BeforeAll
    static void open() {
        browser = Browser.open();
        server = PageServer.start();
        server.history(Samples.until(System.currentTimeMillis()));
        MadeUpKeys.at(server);
    }

    @AfterAll
    static void quit() {
        if (browser != null) {
            browser.close();
            server.close();
        }
    }

    @ParameterizedTest(name = "{0}, {1} px, {2}")
    @CsvSource({
        "light, 1440, healthy",
        "dark, 1440, healthy",
        "light, 360, healthy",
        "dark, 360, troubled",
        "light, 1440, troubled",
        "dark, 1440, troubled",
        "light, 360, login",
        "dark, 360, login"
    })
    void axeFindsNothing(String theme, int width, String state) {
        server.refuse(state.equals("login") ? 401 : 0);
        server.show(state.equals("troubled") ? troubled() : PageServer.healthy());
        browser.size(width, 1000);
        browser.show(server.url());
        browser.theme(theme);
        eventually().until(() -> browser.has(state.equals("login") ? "form[data-login]" : "[data-node=core]"));
        MadeUpKeys.open(browser);
        assertThat(browser.find("html").getAttribute("data-theme")).isEqualTo(theme);
        assertThat(new AxeBuilder()
                        .analyze(browser.driver()).getViolations().stream()
                                .map(AccessibilityIT::text)
                                .collect(Collectors.joining("\n")))
                .isEmpty();
        assertThat(((Number) browser.driver().executeScript("return document.documentElement.scrollWidth")).intValue())
                .as("the page is not wider than the window")
                .isLessThanOrEqualTo(width);
    }

    /** All that can be wrong, at once. */
    static ObjectNode troubled() {
        ObjectNode overview = PageServer.healthy();
        ObjectNode core = (ObjectNode) overview.get("core");
        core.put("quorum", "lost").put("healthy_voters", 1);
        ((ObjectNode) core.at("/members/1")).put("health", "unreachable");
        ((ObjectNode) core.at("/members/2")).put("health", "leaderless");
        ((ObjectNode) overview.get("gateway")).put("ready", false).put("problem", "replica: too old");
        ((ObjectNode) overview.at("/gateways/0")).put("reachable", false).put("message", "refused");
        ((ObjectNode) overview.at("/mirrors/0/mirrors/0"))
                .put("state", "retrying")
                .put("reason", "no leader");
        ((ObjectNode) overview.at("/mirrors/0/mirrors/1"))
                .put("state", "failed")
                .put("reason", "another epoch");
        ((ObjectNode) overview.at("/supervisors/0")).put("paused", "by hand");
        return overview;
    }

    private static String text(Rule rule) {
        return rule.getId() + ": " + rule.getHelp() + " "
                + rule.getNodes().stream()
                        .map(node -> node.getHtml() + " "
                                + node.getAny().stream()
                                        .map(check -> check.getMessage())
                                        .toList())
                        .limit(4)
                        .toList();
    }
}
