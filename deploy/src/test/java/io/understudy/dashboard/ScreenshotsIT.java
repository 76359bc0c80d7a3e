package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;

/**
 * Screenshots of the page for a busy made-up cluster: at four widths, in both themes, in trouble, and its parts.
 *
 * <p>Run by {@code deploy/screenshots}, which sets the folder for them. Those of the documentation are in its folder docs.
 */
@EnabledIfSystemProperty(named = ScreenshotsIT.FOLDER, matches = ".+", disabledReason = "run by deploy/screenshots")
@Tag("browser")
final class ScreenshotsIT {

    static final String FOLDER = "understudy.screenshots";

    /** Of the picture in the README. */
    private static final int WIDE = 1440;

    private static final int HIGH = 1150;

    @Test
    void picturesOfThePage() throws IOException {
        Path folder = Files.createDirectories(Path.of(System.getProperty(FOLDER)));
        Path docs = Files.createDirectories(folder.resolve("docs"));
        Path parts = Files.createDirectories(docs.resolve("dashboard"));
        try (Browser browser = Browser.open();
                PageServer server = PageServer.start()) {
            long now = System.currentTimeMillis();
            ObjectNode samples = Samples.until(now);
            server.history(samples);
            server.show(overview -> Samples.last(overview, samples, now + 1_000));
            server.older(request -> Samples.until(now, 1_440, 60_000));
            MadeUpKeys.at(server);
            for (String theme : new String[] {"light", "dark"}) {
                String suffix = theme.equals("light") ? "" : "-dark";
                for (int width : new int[] {1920, WIDE, 1280, 360}) {
                    browser.size(width, HIGH);
                    browser.show(server.url());
                    browser.theme(theme);
                    awaitAll(browser);
                    if (width == WIDE) {
                        browser.picture(
                                theme.equals("light") ? docs.resolve("dashboard.png") : parts.resolve("dark.png"));
                    }
                    MadeUpKeys.open(browser);
                    whole(browser, folder.resolve("whole-" + theme + "-" + width + ".png"), width);
                    if (width == WIDE) {
                        part(browser, "#keys", parts.resolve("keys" + suffix + ".png"));
                        browser.find("input[name=range][value='86400000']").sendKeys(Keys.SPACE);
                        browser.driver().executeScript("document.activeElement.blur()");
                        eventually().until(() -> browser.text(".range").contains("Each point"));
                        part(browser, "#charts", parts.resolve("charts" + suffix + ".png"));
                    }
                }
            }
            browser.size(360, 800);
            browser.theme("light");
            awaitAll(browser);
            browser.picture(parts.resolve("phone.png"));
            browser.size(WIDE, HIGH);
            server.show(overview -> {
                ObjectNode core = (ObjectNode) overview.get("core");
                core.put("healthy_voters", 2).put("tolerance", 0);
                ((ObjectNode) core.at("/members/1")).put("health", "unreachable");
            });
            eventually().until(() -> browser.has(".face.warn"));
            browser.picture(parts.resolve("degraded.png"));
            server.show(AccessibilityIT.troubled());
            eventually().until(() -> browser.has("[data-face=quorum]"));
            browser.picture(parts.resolve("quorum-lost.png"));
            server.refuse(401, "etcdserver: authentication failed, invalid user ID or password");
            browser.show(server.url());
            eventually().until(() -> browser.has("form[data-login=needed]"));
            browser.find("input[name=user]").sendKeys("admin");
            browser.find("input[name=password]").sendKeys("wrong", Keys.ENTER);
            eventually().until(() -> browser.text("form[data-login=needed]").contains("failed"));
            browser.picture(parts.resolve("login-failed.png"));
            browser.driver().executeScript("sessionStorage.clear()");
            server.refuse(0);
            browser.show(server.url());
            awaitAll(browser);
            server.vanish();
            eventually().until(() -> browser.has("[data-face=disconnected]"));
            browser.picture(folder.resolve("disconnected.png"));
        }
    }

    private static void awaitAll(Browser browser) {
        eventually()
                .until(() -> browser.has("[data-phase=live]")
                        && browser.has("[data-node=core]")
                        && browser.has(".sprite")
                        && browser.text("[data-chart=watchers] .legend").matches("(?s).*\\d.*"));
    }

    private static void part(Browser browser, String css, Path file) throws IOException {
        Files.write(file, browser.find(css).getScreenshotAs(OutputType.BYTES));
    }

    /** As high as the page. */
    private static void whole(Browser browser, Path file, int width) {
        Number high = (Number) browser.driver().executeScript("return document.documentElement.scrollHeight");
        int window =
                ((Number) browser.driver().executeScript("return window.outerHeight - window.innerHeight")).intValue();
        browser.size(width, high.intValue() + window);
        eventually()
                .until(() -> ((Number) browser.driver().executeScript("return window.innerHeight")).intValue()
                        >= high.intValue());
        browser.picture(file);
    }
}
