package io.understudy.cli;

import io.understudy.config.SettingsText;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy config reference}: all settings, as the documents have them. */
@Command(
        name = "reference",
        description = "Print all settings with variable, default, allowed values and meaning, as a Markdown table.")
final class ConfigReferenceCommand implements Runnable {

    @Parameters(
            arity = "0..1",
            paramLabel = "gateway|mirror|cluster",
            description = "Kind of configuration (default: all).")
    private List<ConfigKind> kinds = List.of(ConfigKind.values());

    @Spec
    private CommandSpec spec;

    @Override
    public void run() {
        PrintWriter out = spec.commandLine().getOut();
        for (ConfigKind kind : kinds) {
            if (kinds.size() > 1) {
                out.println("## " + kind.name().toLowerCase(Locale.ROOT) + "\n");
            }
            out.println(SettingsText.reference(kind.settings()).strip());
            if (kinds.size() > 1) {
                out.println();
            }
        }
        out.flush();
    }
}
