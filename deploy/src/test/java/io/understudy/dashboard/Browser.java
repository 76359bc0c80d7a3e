package io.understudy.dashboard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.logging.Level;
import org.awaitility.core.ConditionFactory;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.NoSuchElementException;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A headless Chromium with one page. Where there is none, the test that wants it is skipped. */
final class Browser implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final ChromeDriver driver;

    private Browser(ChromeDriver driver) {
        this.driver = driver;
    }

    static Browser open() {
        Optional<Path> chromium = program("chromium");
        Optional<Path> chromedriver = program("chromedriver");
        assumeTrue(
                chromium.isPresent() && chromedriver.isPresent(),
                "needs chromium and chromedriver; on Debian: apt-get install chromium chromium-driver");
        ChromeOptions options = new ChromeOptions();
        options.setBinary(chromium.orElseThrow().toFile());
        options.addArguments(
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--hide-scrollbars",
                "--force-prefers-reduced-motion");
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(chromedriver.orElseThrow().toFile())
                .usingAnyFreePort()
                .withSilent(true)
                .build();
        return new Browser(new ChromeDriver(service, options));
    }

    private static Optional<Path> program(String name) {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst();
    }

    ChromeDriver driver() {
        return driver;
    }

    Browser show(String url) {
        driver.get(url);
        return this;
    }

    /** Reloads in that theme, whatever the system would choose. */
    void theme(String theme) {
        driver.executeScript("localStorage.setItem('understudy.theme', arguments[0])", theme);
        driver.navigate().refresh();
    }

    void size(int width, int height) {
        driver.manage().window().setSize(new Dimension(width, height));
    }

    static ConditionFactory within(Duration time) {
        return await().pollInterval(Duration.ofMillis(50))
                .pollDelay(Duration.ZERO)
                .ignoreExceptionsMatching(
                        why -> why instanceof NoSuchElementException || why instanceof StaleElementReferenceException)
                .atMost(time);
    }

    static ConditionFactory eventually() {
        return within(PATIENCE);
    }

    WebElement find(String css) {
        return driver.findElement(By.cssSelector(css));
    }

    List<WebElement> all(String css) {
        return driver.findElements(By.cssSelector(css));
    }

    boolean has(String css) {
        return !all(css).isEmpty();
    }

    String text(String css) {
        return find(css).getText();
    }

    /** What has the keyboard's focus. */
    WebElement focused() {
        return driver.switchTo().activeElement();
    }

    void press(CharSequence... keys) {
        new Actions(driver).sendKeys(keys).perform();
    }

    /** By Tab alone, from where the focus is. */
    WebElement tabTo(String css) {
        for (int i = 0; i < 80; i++) {
            press(Keys.TAB);
            WebElement now = focused();
            if (Boolean.TRUE.equals(driver.executeScript("return arguments[0].matches(arguments[1])", now, css))) {
                return now;
            }
        }
        throw new AssertionError("the focus never comes to " + css);
    }

    /** What an expression gives, in which {@code it} is that module of the page. */
    Object evaluate(String module, String expression) {
        return driver.executeAsyncScript(
                "const [path, done] = arguments; import(path).then((it) => (" + expression
                        + ")).then(done, (why) => done(String(why)))",
                "/dashboard/" + module);
    }

    void picture(Path file) {
        try {
            Files.write(file, driver.getScreenshotAs(OutputType.BYTES));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The browser's log since the last call. */
    List<LogEntry> complaints() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.WARNING.intValue())
                .toList();
    }

    void assertNoComplaints() {
        assertThat(complaints()).isEmpty();
    }

    @Override
    public void close() {
        driver.quit();
    }
}
