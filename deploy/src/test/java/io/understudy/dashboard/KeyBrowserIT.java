package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.local.junit.EtcdExtension;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/**
 * Looking at keys: what is there, what was there, and what comes; by keyboard alone.
 *
 * <p>Tests invariants D2c, D2d.
 */
@Timeout(60)
@Tag("browser")
final class KeyBrowserIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static Browser browser;
    private static Gateway gateway;

    @BeforeAll
    static void start() throws Exception {
        browser = Browser.open();
        put("app/limits", "{\"rate\":9007199254740993,\"of\":[\"a\",{}]}");
        put("app/mode", "slow");
        put("app/mode", "fast");
        put("app/<img src=x onerror=alert(1)>", "<script>alert(2)</script>");
        for (int i = 100; i < 175; i++) {
            put("page/" + i, "v" + i);
        }
        gateway = Gateway.start(GatewaySettings.of(
                "keys",
                new HostPort("127.0.0.1", 0),
                EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]))
                        .withName("source")));
    }

    @AfterAll
    static void stop() {
        if (gateway != null) {
            gateway.close();
        }
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void show() {
        browser.show("http://127.0.0.1:" + gateway.restPort() + "/");
        eventually()
                .until(() -> browser.has("[data-phase=live]")
                        && browser.text("[data-figure=revision]").matches("(?s).*\\d.*"));
    }

    @Test
    void aPageReceivesCommitsByTheDocumentedLines() throws IOException {
        String lines = Files.readAllLines(Path.of("../docs/operate/gateway.md")).stream()
                .dropWhile(line -> !line.startsWith("    const events = new EventSource("))
                .takeWhile(line -> !line.isBlank())
                .collect(Collectors.joining("\n"));
        // Other classes wrote to the cluster before.
        long revision = revision("page/120");
        browser.driver().executeScript("""
                window.told = [];
                const show = change => told.push(change.key + ' ' + change.mod_revision);
                const readAllThenWatch = () => {};
                """ + lines.replace("revision=28", "revision=" + revision));
        eventually().until(() -> listed().size() == 55);
        assertThat(listed().get(0)).isEqualTo("page/120 " + revision);
    }

    @SuppressWarnings("unchecked")
    private static List<String> listed() {
        return (List<String>) browser.driver().executeScript("return told");
    }

    @Test
    void theKeyboardAloneLeadsThroughAllOfIt() {
        // The history begins when the gateway started.
        put("app/mode", "slow");
        put("app/mode", "fast");
        WebElement prefix = browser.tabTo("#prefix");
        prefix.sendKeys("app/", Keys.ENTER);
        eventually().until(() -> browser.all(".key").size() == 3);
        WebElement first = browser.tabTo(".key");
        assertThat(first.getText()).contains("app/<img src=x onerror=alert(1)>");
        browser.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER);
        eventually().until(() -> browser.has("pre.value"));
        assertThat(browser.text(".key-name")).isEqualTo("app/mode");
        assertThat(browser.text("pre.value")).isEqualTo("fast");

        browser.tabTo("input[name=form]");
        browser.press(Keys.ARROW_RIGHT);
        eventually().until(() -> browser.has("pre[data-form=hex]"));
        assertThat(browser.text("pre.value")).contains("66 61 73 74").endsWith("fast");

        browser.tabTo(".open-history");
        browser.press(Keys.ENTER);
        eventually().until(() -> browser.all(".detail .history li").size() == 2);
        assertThat(browser.all(".detail .history li"))
                .extracting(WebElement::getText)
                .satisfiesExactly(newest -> assertThat(newest).contains("put", "fast"), oldest -> assertThat(oldest)
                        .contains("put", "slow"));
        put("app/mode", "faster");
        eventually().until(() -> browser.all(".detail .history li").size() == 3);

        browser.tabTo(".start-watch");
        browser.press(Keys.ENTER);
        eventually().until(() -> browser.has(".watch .pause"));
        eventually().until(() -> {
            put("app/watched", "1");
            return browser.text(".watch").contains("app/watched");
        });
        browser.tabTo(".pause");
        browser.press(Keys.SPACE);
        eventually().until(() -> browser.has(".pause[aria-pressed=true]"));
        put("app/later", "2");
        eventually().until(() -> browser.text(".watch").contains("1 change since the watch was paused"));
        assertThat(browser.text(".watch")).doesNotContain("app/later");
        browser.press(Keys.SPACE);
        eventually().until(() -> browser.text(".watch").contains("app/later"));
        delete("app/later");
        eventually().until(() -> browser.text(".watch").contains("delete"));
        delete("app/watched");
        browser.assertNoComplaints();
    }

    @Test
    void jsonIsIndentedWithItsNumbersAsTheyAreWritten() {
        open("app/limits");
        assertThat(browser.text("pre[data-form=json]")).isEqualTo("""
                {
                  "rate": 9007199254740993,
                  "of": [
                    "a",
                    {}
                  ]
                }""");
    }

    @Test
    void markupInKeysAndValuesIsText() {
        open("app/<img src=x onerror=alert(1)>");
        assertThat(browser.text(".key-name")).isEqualTo("app/<img src=x onerror=alert(1)>");
        assertThat(browser.text("pre.value")).isEqualTo("<script>alert(2)</script>");
        assertThat(browser.has("#keys img, #keys script")).isFalse();
        browser.assertNoComplaints();
    }

    @Test
    void longListingsComePageByPage() {
        list("page/");
        assertThat(browser.all(".key:not(.more)")).hasSize(50);
        assertThat(browser.text(".count")).startsWith("50 of 75 keys as of revision");
        browser.find(".key").click();
        browser.press(Keys.END, Keys.ENTER);
        eventually().until(() -> browser.all(".key").size() == 75);
        assertThat(browser.has(".more")).isFalse();
        eventually().until(() -> browser.focused().getText().startsWith("page/150"));
    }

    @Test
    void keysAreATree_whichTheArrowKeysOpenAndClose() {
        put("tree/a/b/one", "1");
        put("tree/a/two", "2");
        put("tree/z", "3");
        list("tree/");
        assertThat(rows()).containsExactly("tree/a/\n2 keys", "tree/z");
        browser.tabTo(".key");
        browser.press(Keys.ARROW_RIGHT);
        eventually().until(() -> rows().equals(List.of("tree/a/\n2 keys", "b/\n1 key", "two", "tree/z")));
        browser.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT);
        eventually().until(() -> rows().equals(List.of("tree/a/\n2 keys", "b/\n1 key", "one", "two", "tree/z")));
        assertThat(browser.all(".key").get(2).getAttribute("aria-level")).isEqualTo("3");
        browser.press(Keys.ARROW_RIGHT, Keys.ENTER);
        eventually().until(() -> browser.has("pre.value"));
        assertThat(browser.text(".key-name")).isEqualTo("tree/a/b/one");

        browser.find(".filter").sendKeys("TWO");
        eventually().until(() -> rows().equals(List.of("tree/a/\n2 keys", "two")));
        browser.find(".filter").sendKeys(Keys.BACK_SPACE, Keys.BACK_SPACE, Keys.BACK_SPACE);
        eventually().until(() -> rows().size() == 5);
        browser.tabTo(".key");
        browser.press(Keys.HOME, Keys.ARROW_LEFT);
        eventually().until(() -> rows().equals(List.of("tree/a/\n2 keys", "tree/z")));
        browser.assertNoComplaints();
    }

    @Test
    void theListFollowsChanges_unlessItIsNotLive() {
        put("live/b/1", "x");
        put("live/c", "old");
        list("live/");
        browser.all(".key").get(1).click();
        eventually().until(() -> browser.has("pre.value"));
        eventually().until(() -> browser.text(".count").contains("updated live"));

        put("live/a", "x");
        put("live/b/2", "x");
        put("live/c", "new");
        eventually().until(() -> rows().equals(List.of("live/a", "live/b/\n2 keys", "live/c")));
        eventually().until(() -> browser.text("pre.value").equals("new"));
        assertThat(browser.text(".count")).startsWith("4 keys as of revision");

        delete("live/b/1");
        delete("live/b/2");
        delete("live/c");
        eventually().until(() -> rows().equals(List.of("live/a")));
        eventually().until(() -> browser.has(".refused[data-status='404']"));
        assertThat(browser.text(".refused")).contains("Key not found", "deleted at revision");

        browser.find("input[name=live]").click();
        put("live/later", "x");
        eventually().until(() -> !browser.text(".count").contains("updated live"));
        assertThat(rows()).containsExactly("live/a");
        browser.find("input[name=live]").click();
        eventually().until(() -> rows().equals(List.of("live/a", "live/later")));
        delete("live/a");
        delete("live/later");
        browser.assertNoComplaints();
    }

    @Test
    void commandsOfEtcdctlAreCopied() {
        put("it's/a key", "found");
        open("it's/a key");
        assertThat(browser.text(".listing .command code"))
                .isEqualTo("etcdctl get --prefix --keys-only -- 'it'\\''s/a key'");
        String command = browser.text(".detail .command code");
        browser.find(".detail .copy").click();
        eventually().until(() -> browser.text(".detail .copy").equals("Copied"));
        browser.find("#prefix").clear();
        browser.find("#prefix").sendKeys(Keys.chord(Keys.CONTROL, "v"));
        assertThat(browser.find("#prefix").getAttribute("value"))
                .isEqualTo(command)
                .isEqualTo("etcdctl get -- 'it'\\''s/a key'");
        delete("it's/a key");
    }

    private static List<String> rows() {
        return browser.all(".key").stream().map(WebElement::getText).toList();
    }

    private static void list(String prefix) {
        WebElement field = browser.find("#prefix");
        field.clear();
        field.sendKeys(prefix);
        // What was just written may not have come to the gateway yet.
        eventually().until(() -> {
            browser.find(".query button").click();
            return browser.has(".key");
        });
    }

    private static void open(String key) {
        list(key);
        browser.find(".key").click();
        eventually().until(() -> browser.has("pre.value"));
    }

    private static long revision(String key) {
        return SOURCE.cluster()
                .etcdctl("get", key, "--write-out=fields")
                .lines()
                .filter(line -> line.startsWith("\"ModRevision\""))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    private static void put(String key, String value) {
        assertThat(SOURCE.cluster().etcdctl("put", "--", key, value)).contains("OK");
    }

    private static void delete(String key) {
        List<String> unused = List.of(SOURCE.cluster().etcdctl("del", "--", key));
    }
}
