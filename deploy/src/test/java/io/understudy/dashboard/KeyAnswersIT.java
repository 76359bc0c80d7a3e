package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

/**
 * Answers about keys that come late, and keys and values that are odd. The test provides the data of the page.
 *
 * <p>Tests invariant D2c.
 */
@ExtendWith(StagedPage.class)
@Timeout(60)
@Tag("browser")
final class KeyAnswersIT {

    private static final String LISTING = "/v1/tree?prefix=&limit=50&consistency=serializable";

    private final Browser browser;
    private final PageServer server;

    KeyAnswersIT(Browser browser, PageServer server) {
        this.browser = browser;
        this.server = server;
    }

    @Test
    void oneUsersAnswersAreNotShownToTheNext() {
        MadeUpKeys.at(server);
        CountDownLatch late = server.hold(LISTING);
        server.refuse(401);
        browser.show(server.url());
        eventually().until(() -> browser.has("form[data-login=needed]"));
        // Set after the reader of an answer has processed it.
        browser.driver().executeScript("""
                const json = Response.prototype.json;
                Response.prototype.json = async function () {
                  const told = await json.call(this);
                  if (this.url.includes('/v1/tree?')) {
                    setTimeout(() => { window.read = true; });
                  }
                  return told;
                };""");
        browser.find(".query button").click();
        browser.find("input[name=user]").sendKeys("next");
        browser.find("input[name=password]").sendKeys("password", Keys.ENTER);
        eventually().until(() -> browser.text("#controls").contains("next"));

        late.countDown();
        eventually().until(() -> (Boolean) browser.driver().executeScript("return window.read === true"));
        browser.driver().executeAsyncScript("""
                const [done] = arguments;
                requestAnimationFrame(() => requestAnimationFrame(() => done()));""");
        assertThat(browser.has(".key")).isFalse();
        assertThat(browser.has("#keys .refused")).isFalse();
    }

    @Test
    void aKeyThatAPathCannotHaveIsGoneIfOnlyOthersBeginLikeIt() {
        server.answer(LISTING, level("."));
        server.answer("/v1/kv?prefix=.&limit=1&consistency=serializable", page(entry(".profile", "another's")));
        choose();
        eventually().until(() -> browser.has(".refused[data-status='404']"));
        assertThat(browser.text(".detail")).contains("no such key").doesNotContain("another's");
    }

    @Test
    void jsonOfAThousandLevelsIsShownAsItIs() {
        String value = "[".repeat(1_000) + "]".repeat(1_000);
        server.answer(LISTING, level("deep"));
        server.answer(
                "/v1/kv/deep?consistency=serializable", entry("deep", value).toString());
        choose();
        eventually().until(() -> browser.has("pre[data-form=text]"));
        assertThat(browser.text("pre.value")).isEqualTo(value);
        assertThat(browser.find("input[name=form][value=json]").isEnabled()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "a\\u200eb, a\\xe2\\x80\\x8eb",
        "\\\\x41, \\\\x41",
        "C:\\\\dir, C:\\\\dir",
        "\\ufeffbegin, \\xef\\xbb\\xbfbegin",
        "é, é",
        "line\\nline, line\\x0aline"
    })
    void whatIsShownOfAKeyIsWhatOneTypesForIt(String key, String shown) {
        browser.show(server.url());
        assertThat(browser.evaluate("keybytes.js", "it.shown(new TextEncoder().encode('" + key + "'))"))
                .isEqualTo(shown);
        assertThat(browser.evaluate(
                        "keybytes.js",
                        "new TextDecoder('utf-8', { ignoreBOM: true }).decode(it.typed(it.shown(new TextEncoder().encode('"
                                + key + "')))) === '" + key + "'"))
                .isEqualTo(true);
    }

    @Test
    void bytesThatAreNoTextAreTypedAsTheyAreShown() {
        browser.show(server.url());
        assertThat(browser.evaluate("keybytes.js", "it.shown(Uint8Array.of(0xff, 0x5c, 0x78, 0x34, 0x31))"))
                .isEqualTo("\\xff\\\\x41");
        assertThat(browser.evaluate("keybytes.js", "it.percent(it.typed('\\\\xff\\\\\\\\x41'))"))
                .isEqualTo("%ff%5cx41");
    }

    @Test
    void keysAreQuotedForAShell() {
        browser.show(server.url());
        Map.of(
                        "plain/key", "'plain/key'",
                        "it's", "'it'\\''s'",
                        "-é", "'-é'",
                        "a\\nb c'", "$'a\\x0ab\\x20c\\x27'")
                .forEach((key, word) -> assertThat(
                                browser.evaluate("command.js", "it.quoted(new TextEncoder().encode(`" + key + "`))"))
                        .isEqualTo(word));
    }

    private void choose() {
        browser.show(server.url());
        eventually().until(() -> browser.has(".query button"));
        browser.find(".query button").click();
        eventually().until(() -> browser.has(".key"));
        browser.find(".key").click();
    }

    private static String level(String key) {
        ObjectNode level =
                JsonNodeFactory.instance.objectNode().put("revision", 9).put("count", 1);
        level.withArray("entries").addObject().put("key", key).put("key_encoding", "text");
        return level.toString();
    }

    private static String page(ObjectNode entry) {
        ObjectNode page =
                JsonNodeFactory.instance.objectNode().put("revision", 9).put("count", 1);
        page.withArray("kvs").add(entry);
        return page.toString();
    }

    private static ObjectNode entry(String key, String value) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("key", key)
                .put("key_encoding", "text")
                .put("value", value)
                .put("value_encoding", "text")
                .put("create_revision", 3)
                .put("mod_revision", 5)
                .put("version", 2);
    }
}
