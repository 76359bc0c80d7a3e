package io.understudy.dashboard;

import static io.understudy.dashboard.Browser.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.config.HostPort;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/**
 * With authentication, the page shows each user the permitted keys, and reports refusals.
 *
 * <p>Tests invariant D2c.
 */
@Timeout(60)
final class PermissionsIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final String SECRET = "only-for-root";
    private static Browser browser;
    private static Gateway gateway;

    @BeforeAll
    static void start() throws Exception {
        browser = Browser.open();
        SOURCE.cluster().enableAuthentication("root");
        asRoot("put", "public/a", "for everybody");
        asRoot("put", "secret/a", SECRET);
        asRoot("user", "add", "reader:reader");
        asRoot("role", "add", "reader");
        asRoot("role", "grant-permission", "--prefix=true", "reader", "read", "public/");
        asRoot("user", "grant-role", "reader", "reader");
        gateway = Gateway.start(GatewaySettings.of(
                "users",
                new HostPort("127.0.0.1", 0),
                EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]))
                        .withName("source")
                        .withLogin(new Credentials("root", "root"))));
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
        browser.driver().executeScript("sessionStorage.clear()");
        browser.driver().navigate().refresh();
        eventually().until(() -> browser.has("form[data-login=needed]"));
    }

    @Test
    void rootSeesAllOfIt() {
        signIn("root", "root");
        eventually().until(() -> browser.has("[data-phase=live]") && browser.has("[data-member]"));
        open("secret/");
        eventually().until(() -> browser.has("pre.value"));
        assertThat(browser.text("pre.value")).isEqualTo(SECRET);

        browser.find("#controls .login-user").click();
        eventually().until(() -> browser.has("form[data-login=needed]"));
        assertThat(browser.driver().getPageSource()).doesNotContain(SECRET);
        assertThat(browser.has("[data-member]")).isFalse();
        assertThat(browser.all(".chart .nothing")).allMatch(WebElement::isDisplayed);
    }

    @Test
    void aReaderSeesPermittedKeysAndARefusalForOthers() {
        signIn("reader", "reader");
        eventually().until(() -> browser.has("[data-login=refused]"));
        assertThat(browser.text("[data-login=refused]")).contains("reader is not permitted");
        open("public/");
        eventually().until(() -> browser.has("pre.value"));
        assertThat(browser.text("pre.value")).isEqualTo("for everybody");

        list("secret/");
        eventually().until(() -> browser.has(".refused[data-status='403']"));
        assertThat(browser.text(".refused")).contains("not permitted", "permission denied");
        assertThat(browser.driver().getPageSource()).doesNotContain(SECRET, "secret/a");
    }

    @Test
    void aWrongPasswordIsReported() {
        signIn("reader", "wrong");
        eventually().untilAsserted(() -> assertThat(browser.text("form[data-login=needed]"))
                .contains("Sign-in as reader failed", "etcdserver: authentication failed"));
    }

    private static void signIn(String user, String password) {
        browser.find("input[name=user]").sendKeys(user);
        browser.find("input[name=password]").sendKeys(password, Keys.ENTER);
    }

    private static void list(String prefix) {
        browser.find("#prefix").clear();
        browser.find("#prefix").sendKeys(prefix, Keys.ENTER);
    }

    private static void open(String prefix) {
        list(prefix);
        eventually().until(() -> browser.has(".key"));
        browser.find(".key").click();
    }

    private static void asRoot(String... arguments) {
        List<String> line = new ArrayList<>(List.of("--user=root:root"));
        line.addAll(List.of(arguments));
        assertThat(SOURCE.cluster().etcdctl(line.toArray(new String[0]))).isNotNull();
    }
}
