package io.understudy.reference;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.understudy.cli.Commands;
import io.understudy.cluster.settings.ClusterSettings;
import io.understudy.config.SettingsText;
import io.understudy.gateway.GatewaySettings;
import io.understudy.mirror.MirrorConfiguration;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

/** The pages of {@code docs/reference} are generated from the code; {@code -Dunderstudy.docs.write=true} writes them. */
final class ReferencePagesTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path FOLDER = ROOT.resolve("docs/reference");
    private static final Path OPENAPI =
            ROOT.resolve("gateway/src/main/resources/io/understudy/gateway/rest/openapi.json");
    private static final Path ALERTS = ROOT.resolve("deploy/dist/src/main/dist/monitoring/alerts.yaml");

    @ParameterizedTest
    @ValueSource(strings = {"command-line", "settings", "metrics", "alerts", "rest"})
    void thePageIsUpToDate(String name) throws IOException {
        String page = page(name);
        Path file = FOLDER.resolve(name + ".md");
        if (Boolean.getBoolean("understudy.docs.write")) {
            Files.writeString(file, page);
        }
        assertThat(Files.readString(file))
                .as("write it by: mvn -pl deploy -am test -Dtest=ReferencePagesTest -Dunderstudy.docs.write=true"
                        + " -Dsurefire.failIfNoSpecifiedTests=false")
                .isEqualTo(page);
    }

    private static String page(String name) throws IOException {
        return switch (name) {
            case "command-line" -> commandLine();
            case "settings" -> settings();
            case "metrics" -> MetricsReference.markdown();
            case "alerts" -> alerts();
            case "rest" -> rest();
            default -> throw new IllegalArgumentException(name);
        };
    }

    private static String commandLine() {
        StringBuilder text = new StringBuilder("""
                # Command line

                Generated from the help texts of `understudy`.

                Results go to standard output. Progress, notes, warnings and errors go to standard error; an error is one line,
                and an invalid configuration has one more for each problem. With `--output json`, standard output has exactly one
                document: the result, or without a result an object with `error`, the text, and `status`, the exit status.
                `config check` prints an object for each file, with `file`, `line`, `key` and `message` of each problem,
                and with `notes`, which name what could not be verified.

                Durations are written as in a configuration: `200ms`, `5s`, `1h30m`, `30d`.
                """);
        append(text, Commands.understudy());
        return text.toString();
    }

    private static void append(StringBuilder text, CommandLine command) {
        text.append("\n## ")
                .append(command.getCommandSpec().qualifiedName())
                .append("\n\n```text\n")
                .append(command.getUsageMessage(Ansi.OFF).stripTrailing().replaceAll("(?m) +$", ""))
                .append("\n```\n");
        command.getSubcommands().values().stream().distinct().forEach(child -> append(text, child));
    }

    private static String settings() {
        return """
                # Settings

                Generated from the code, like the output of `understudy config reference`. A setting is read from the YAML file
                given by `--config`, from the environment variable, or, for a few, from a flag; the flag has the highest
                priority, the file the lowest. A secret can also be read from a file: append `File` to the key.
                The folder `conf` of the distribution has a sample of each file, and a JSON schema of it for editors.

                ## gateway

                %s
                ## mirror

                %s
                ## cluster

                %s""".formatted(
                        SettingsText.reference(GatewaySettings.ROWS),
                        SettingsText.reference(MirrorConfiguration.ROWS),
                        SettingsText.reference(ClusterSettings.ROWS));
    }

    private static String alerts() throws IOException {
        StringBuilder text = new StringBuilder("""
                # Alerts

                Generated from `monitoring/alerts.yaml`. What to do about each alert is in
                [Runbooks](../operate/runbooks.md).

                | alert | severity | for | summary | expression |
                | --- | --- | --- | --- | --- |
                """);
        for (JsonNode group : new YAMLMapper().readTree(ALERTS.toFile()).path("groups")) {
            for (JsonNode rule : group.path("rules")) {
                if (rule.has("alert")) {
                    text.append("| [%s](../%s) | %s | %s | %s | %s |\n"
                            .formatted(
                                    rule.path("alert").asText(),
                                    rule.at("/annotations/runbook_url").asText().replaceFirst("^.*/docs/", ""),
                                    rule.at("/labels/severity").asText(),
                                    rule.path("for").asText("0s"),
                                    code(rule.at("/annotations/summary").asText()),
                                    code(rule.path("expr").asText())));
                }
            }
        }
        return text.toString();
    }

    private static String rest() throws IOException {
        JsonNode document = JsonMapper.builder().build().readTree(OPENAPI.toFile());
        StringBuilder text = new StringBuilder("""
                # REST

                Generated from the OpenAPI document, which each gateway serves at `GET /openapi.json` of its REST port.
                """);
        for (Map.Entry<String, JsonNode> path : document.path("paths").properties()) {
            JsonNode get = path.getValue().path("get");
            text.append("\n## `GET ").append(path.getKey()).append("`\n\n");
            text.append(get.path("summary").asText()).append(".\n");
            if (get.has("description")) {
                text.append('\n').append(get.path("description").asText()).append('\n');
            }
            List<JsonNode> parameters = children(get.path("parameters"), document);
            if (!parameters.isEmpty()) {
                text.append("\n| parameter | in | allowed | meaning |\n| --- | --- | --- | --- |\n");
                parameters.forEach(each -> text.append("| `%s` | %s | %s | %s |\n"
                        .formatted(
                                each.path("name").asText(),
                                each.path("in").asText(),
                                allowed(each.path("schema")),
                                cell(each.path("description").asText()))));
            }
            text.append("\n| status | meaning |\n| --- | --- |\n");
            for (Map.Entry<String, JsonNode> response : get.path("responses").properties()) {
                text.append("| %s | %s |\n"
                        .formatted(
                                response.getKey(),
                                cell(resolved(response.getValue(), document)
                                        .path("description")
                                        .asText())));
            }
        }
        return text.toString();
    }

    private static List<JsonNode> children(JsonNode array, JsonNode document) {
        return StreamSupport.stream(array.spliterator(), false)
                .map(node -> resolved(node, document))
                .toList();
    }

    private static JsonNode resolved(JsonNode node, JsonNode document) {
        return node.has("$ref") ? document.at(node.path("$ref").asText().substring(1)) : node;
    }

    private static String allowed(JsonNode schema) {
        if (schema.has("enum")) {
            return StreamSupport.stream(schema.path("enum").spliterator(), false)
                    .map(value -> "`" + value.asText() + "`")
                    .collect(Collectors.joining(", "));
        }
        return schema.has("pattern")
                ? code(schema.path("pattern").asText())
                : schema.path("type").asText();
    }

    private static String code(String text) {
        return "`" + cell(text) + "`";
    }

    private static String cell(String text) {
        return text.replace("|", "\\|").replace('\n', ' ').strip();
    }
}
