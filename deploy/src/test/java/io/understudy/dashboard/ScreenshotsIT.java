package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Screenshots of the page for a busy made-up cluster: at three widths, in both themes, and in trouble.
 *
 * <p>Run by {@code deploy/screenshots}, which sets the folder for them.
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
        try (Browser browser = Browser.open();
                PageServer server = PageServer.start()) {
            long now = System.currentTimeMillis();
            ObjectNode samples = Samples.until(now);
            server.history(samples);
            server.show(overview -> Samples.last(overview, samples, now + 1_000));
            MadeUpKeys.at(server);
            for (String theme : new String[] {"light", "dark"}) {
                for (int width : new int[] {WIDE, 820, 360}) {
                    browser.size(width, HIGH);
                    browser.show(server.url());
                    browser.theme(theme);
                    awaitAll(browser);
                    if (width == WIDE) {
                        browser.picture(folder.resolve("dashboard" + (theme.equals("light") ? "" : "-dark") + ".png"));
                    }
                    MadeUpKeys.open(browser);
                    whole(browser, folder.resolve("whole-" + theme + "-" + width + ".png"), width);
                }
            }
            server.show(AccessibilityIT.troubled());
            browser.size(WIDE, HIGH);
            browser.show(server.url());
            eventually().until(() -> browser.has("[data-face=quorum]"));
            awaitAll(browser);
            browser.picture(folder.resolve("quorum-lost.png"));
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
