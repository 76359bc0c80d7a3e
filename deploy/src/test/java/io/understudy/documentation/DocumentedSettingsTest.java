package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cli.Commands;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.config.Setting;
import io.understudy.gateway.GatewaySettings;
import io.understudy.metrics.CommonMeter;
import io.understudy.mirror.MirrorConfiguration;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings and variables that sentences name are those that there are. */
final class DocumentedSettingsTest {

    private static final Map<String, Collection<Setting<?>>> KINDS = Map.of(
            "gateway", GatewaySettings.ROWS, "mirror", MirrorConfiguration.ROWS, "cluster", ClusterSettings.ROWS);

    private static final Set<String> KEYS =
            KINDS.values().stream().flatMap(DocumentedSettingsTest::keys).collect(Collectors.toSet());

    /** What keys begin with, from the top and from within a mirror or a machine. */
    private static final Set<String> SECTIONS = KEYS.stream()
            .flatMap(key -> Stream.of(key, key.replaceFirst("^[^*]+\\*\\.", "")))
            .map(key -> key.split("\\.", 2)[0])
            .collect(Collectors.toSet());

    /** A dotted name, perhaps with a value. */
    private static final Pattern KEY = Pattern.compile("([a-z][a-zA-Z0-9]*(?:\\.(?:[a-zA-Z0-9]+|\\*))+)(?::.*)?");

    /** A metric, and packages below our own, as READMEs name them: {@code feed.etcd}. */
    private static final Set<String> NO_SETTINGS = Stream.concat(
                    Stream.of(CommonMeter.RESIDENT_MEMORY.metric().name()),
                    Repository.named("package-info.java").stream().map(file -> file.getParent()
                            .toString()
                            .replaceFirst(".*/io/understudy/?", "")
                            .replace('/', '.')))
            .collect(Collectors.toSet());

    /** A name, perhaps of a setting, and what follows it. */
    private static final Pattern ASSIGNMENT = Pattern.compile("([a-z][a-zA-Z0-9]*(?:\\.[a-zA-Z0-9]+)*): +(\\S.*)");

    /** What tests read by their names, and nothing that is shipped. */
    private static final Set<String> OF_TESTS = Set.of("UNDERSTUDY_ADVISORIES");

    private static final Pattern VARIABLE = Pattern.compile("UNDERSTUDY_[A-Z0-9_*]*[A-Z0-9](?![A-Z_…*])");

    @TempDir
    private Path folder;

    @Test
    void settingsInSentencesAreThere() {
        assertThat(Document.allQuotes().flatMap(quote -> missingSettings(quote.text())
                        .map(key -> quote.place() + ": no such setting: " + key)))
                .isEmpty();
    }

    @Test
    void settingsInSentencesTakeTheirValues() {
        assertThat(Document.allQuotes().flatMap(quote -> refused(quote.text()).map(why -> quote.place() + ": " + why)))
                .isEmpty();
        assertThat(Document.allQuotes()
                        .filter(quote -> !assigned(quote.text()).isEmpty())
                        .map(Document.Quote::text))
                .contains("writes: forward", "leases: ttl");
    }

    @Test
    void variablesAreThere() {
        assertThat(Document.allQuotes().flatMap(quote -> missingVariables(quote.text())
                        .map(name -> quote.place() + ": no such variable: " + name)))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"shape.deadTimes", "limits.maxRates: 3", "target.etcd.lane", "mirrors.*.sauce.user"})
    void anUnknownSettingIsReported(String text) {
        assertThat(missingSettings(text)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"UNDERSTUDY_SHAPE_VOTER", "UNDERSTUDY_MIRRORS_DR_SOURCE_USERS"})
    void anUnreadVariableIsReported(String text) {
        assertThat(missingVariables(text)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"leases: tll", "process: systemctl", "supervisor.insecure: yes-please", "compactTarget: 1 day"})
    void aValueThatIsRefusedIsNoticed(String text) {
        assertThat(refused(text)).isNotEmpty();
    }

    /** The problems of a setting with its value, if no kind of configuration accepts it. */
    private Stream<String> refused(String text) {
        List<Optional<String>> answers = assigned(text).stream()
                .map(each -> problem(each.getKey(), each.getValue(), text.substring(text.indexOf(": ") + 2)))
                .toList();
        return answers.stream().anyMatch(Optional::isEmpty)
                ? Stream.empty()
                : answers.stream().flatMap(Optional::stream);
    }

    /** Kinds and keys that a quote may be of. */
    private static List<Map.Entry<String, String>> assigned(String text) {
        Matcher assignment = ASSIGNMENT.matcher(text);
        return !assignment.matches()
                ? List.of()
                : KINDS.entrySet().stream()
                        .flatMap(kind -> keys(kind.getValue())
                                .filter(key -> ("." + key).endsWith("." + assignment.group(1)))
                                .map(key -> Map.entry(kind.getKey(), key)))
                        .toList();
    }

    /** The output of {@code understudy config check} for a file with nothing else in it. */
    private Optional<String> problem(String kind, String key, String value) {
        List<String> names = List.of(key.replace("*", "any").split("\\.", -1));
        StringBuilder yaml = new StringBuilder();
        for (int depth = 0; depth < names.size(); depth++) {
            yaml.append("  ".repeat(depth)).append(names.get(depth)).append(":\n");
        }
        yaml.setCharAt(yaml.length() - 1, ' ');
        StringWriter out = new StringWriter();
        try {
            Path file = Files.writeString(folder.resolve("settings.yaml"), yaml + value.strip() + "\n");
            var unused = Commands.run(out, "config", "check", "--kind=" + kind, file.toString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        // That others are missing is not the point.
        return out.toString()
                .lines()
                .filter(line ->
                        line.contains("cannot be") || line.contains("not a known setting") || line.contains("column"))
                .findFirst();
    }

    /** With the files that secrets may come from. */
    private static Stream<String> keys(Collection<Setting<?>> rows) {
        return rows.stream()
                .flatMap(row -> row.secret() ? Stream.of(row.key(), row.key() + "File") : Stream.of(row.key()));
    }

    private static Stream<String> missingSettings(String text) {
        Matcher key = KEY.matcher(text);
        return key.matches()
                        && isOfASection(key.group(1))
                        && !isThere(key.group(1))
                        && !NO_SETTINGS.contains(key.group(1))
                ? Stream.of(key.group(1))
                : Stream.empty();
    }

    private static Stream<String> missingVariables(String text) {
        return VARIABLE.matcher(text).results().map(MatchResult::group).filter(name -> !isVariable(name));
    }

    private static boolean isOfASection(String key) {
        return SECTIONS.contains(key.split("\\.", 2)[0]);
    }

    /** Named from the top, or from within a mirror or a machine; a group, too. */
    private static boolean isThere(String key) {
        String group = key.replaceFirst("\\.\\*$", "") + ".";
        return KEYS.stream()
                .map(each -> "." + each + ".")
                .anyMatch(each -> each.startsWith("." + group) || each.contains(".*." + group));
    }

    /** A setting's, with any name in the place of an asterisk, or one that is read by its name. */
    private static boolean isVariable(String name) {
        return KEYS.stream()
                        .map(DocumentedSettingsTest::variable)
                        .anyMatch(each -> each.equals(name) || name.matches(each.replace("*", "[A-Z0-9]+")))
                || OF_TESTS.contains(name)
                || Stream.of("\"" + name + "\"", "$" + name, "${" + name).anyMatch(Repository.production()::contains);
    }

    private static String variable(String key) {
        return "UNDERSTUDY_"
                + key.replaceAll("([a-z0-9])([A-Z])", "$1_$2").replace('.', '_').toUpperCase(Locale.ROOT);
    }
}
