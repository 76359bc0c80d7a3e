package io.understudy.cli;

import io.understudy.mirror.MirrorQuestions;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.status.VerifyPage;
import io.understudy.mirror.verify.VerifyReport;
import io.understudy.mirror.verify.VerifyResult;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy mirror verify}: whether a target is its source. */
@Command(
        name = "verify",
        description = {
            "Compare a mirror's target with its source at one revision.",
            "Works with a running or stopped mirror, and during writes."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:equal", "1:different, or not comparable", "2:usage error"})
final class MirrorVerifyCommand implements Callable<Integer> {

    @Mixin
    private ConfigurationFlags configuration;

    @Option(names = "--mirror", paramLabel = "NAME", description = "Mirror name. Required with several mirrors.")
    private String mirror;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
    private OutputForm output;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        Path log = Files.createTempFile("understudy-verify-", ".log");
        LogFile.use(log);
        MirrorSettings.Mirror asked =
                ConfiguredMirror.find(configuration.file(), configuration.values(), mirror, spec.commandLine());
        VerifyResult result;
        try (KeyProgress progress = KeyProgress.onStandardError("comparing")) {
            result = MirrorQuestions.verify(asked, progress::at);
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(
                output == OutputForm.JSON
                        ? VerifyPage.json(asked.name(), result)
                        : VerifyText.of(asked.name(), result));
        out.flush();
        Files.delete(log);
        return result instanceof VerifyReport report && report.isEqual() ? ExitCode.OK : ExitCode.SOFTWARE;
    }
}
