package io.understudy.documentation;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.gateway.GatewaySettings;
import io.understudy.mirror.MirrorConfiguration;
import java.util.Collection;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Settings and variables that sentences name are those that there are. */
final class DocumentedSettingsTest {

    private static final Set<String> KEYS = Stream.of(
                    GatewaySettings.ROWS, MirrorConfiguration.ROWS, ClusterSettings.ROWS)
            .flatMap(Collection::stream)
            .flatMap(row -> row.secret() ? Stream.of(row.key(), row.key() + "File") : Stream.of(row.key()))
            .collect(Collectors.toSet());

    /** What keys begin with, from the top and from within a mirror or a machine. */
    private static final Set<String> SECTIONS = KEYS.stream()
            .flatMap(key -> Stream.of(key, key.replaceFirst("^[^*]+\\*\\.", "")))
            .map(key -> key.split("\\.", 2)[0])
            .collect(Collectors.toSet());

    /** A dotted name, perhaps with a value. */
    private static final Pattern KEY = Pattern.compile("([a-z][a-zA-Z0-9]*(?:\\.(?:[a-zA-Z0-9]+|\\*))+)(?::.*)?");

    /** Below our own, as READMEs name them: {@code feed.etcd}. */
    private static final Set<String> PACKAGES = Repository.named("package-info.java").stream()
            .map(file -> file.getParent()
                    .toString()
                    .replaceFirst(".*/io/understudy/?", "")
                    .replace('/', '.'))
            .collect(Collectors.toSet());

    private static final Pattern VARIABLE = Pattern.compile("UNDERSTUDY_[A-Z0-9_*]*[A-Z0-9](?![A-Z_…*])");

    @Test
    void settingsInSentencesAreThere() {
        assertThat(Document.allQuotes().flatMap(quote -> missingSettings(quote.text())
                        .map(key -> quote.place() + ": no such setting: " + key)))
                .isEmpty();
    }

    @Test
    void variablesAreThere() {
        assertThat(Document.allQuotes().flatMap(quote -> missingVariables(quote.text())
                        .map(name -> quote.place() + ": no such variable: " + name)))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"shape.deadTimes", "limits.maxRates: 3", "target.etcd.lane", "mirrors.*.sauce.user"})
    void aSettingThatNobodyHasIsNoticed(String text) {
        assertThat(missingSettings(text)).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"UNDERSTUDY_SHAPE_VOTER", "UNDERSTUDY_MIRRORS_DR_SOURCE_USERS"})
    void aVariableThatNobodyReadsIsNoticed(String text) {
        assertThat(missingVariables(text)).hasSize(1);
    }

    private static Stream<String> missingSettings(String text) {
        Matcher key = KEY.matcher(text);
        return key.matches() && isOfASection(key.group(1)) && !isThere(key.group(1)) && !PACKAGES.contains(key.group(1))
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
                || Stream.of("\"" + name + "\"", "$" + name, "${" + name).anyMatch(Repository.production()::contains);
    }

    private static String variable(String key) {
        return "UNDERSTUDY_"
                + key.replaceAll("([a-z0-9])([A-Z])", "$1_$2").replace('.', '_').toUpperCase(Locale.ROOT);
    }
}
