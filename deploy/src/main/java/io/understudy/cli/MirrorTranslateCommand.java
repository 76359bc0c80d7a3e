package io.understudy.cli;

import io.understudy.mirror.MirrorQuestions;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.status.StatusClient;
import io.understudy.mirror.status.TranslationPage;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code understudy mirror translate}: where a watcher of the source goes on in the target. */
@Command(
        name = "translate",
        description = {
            "Translate a source revision to the start revision of a watcher in the target.",
            "Prints JSON. Queries a running process; with --config, reads the target directly."
        })
final class MirrorTranslateCommand implements Callable<Integer> {

    @Option(
            names = "--revision",
            required = true,
            converter = NumberFlag.class,
            paramLabel = "N",
            description = "Last revision received from the source.")
    private long revision;

    @Option(names = "--mirror", paramLabel = "NAME", description = "Mirror name. Required with several mirrors.")
    private String mirror;

    @Option(
            names = "--url",
            converter = UrlFlag.class,
            paramLabel = "URL",
            description = "Status URL of the process (default: http://127.0.0.1:8081).")
    private URI url;

    @Mixin
    private TlsFlags tls;

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description = "Mirror configuration file (YAML); its target is queried directly.")
    private Path file;

    @Option(names = "--set", paramLabel = "KEY=VALUE", description = "Override one setting. Repeatable.")
    private final Map<String, String> values = new LinkedHashMap<>();

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws Exception {
        if (url != null && file != null) {
            throw new ParameterException(spec.commandLine(), "--url and --config are mutually exclusive");
        }
        spec.commandLine().getOut().print(file == null ? atProcess() : atTarget());
        spec.commandLine().getOut().flush();
        return ExitCode.OK;
    }

    private String atProcess() throws Exception {
        URI asked = url == null ? URI.create("http://127.0.0.1:8081") : url;
        return new StatusClient(asked, tls.files(spec.commandLine())).translate(mirror, new Revision(revision));
    }

    private String atTarget() throws Exception {
        Revision seen = new Revision(revision);
        Path log = Files.createTempFile("understudy-translate-", ".log");
        LogFile.use(log);
        MirrorSettings.Mirror asked = ConfiguredMirror.find(file, values, mirror, spec.commandLine());
        String answer = TranslationPage.json(asked.name(), seen, MirrorQuestions.translate(asked, seen));
        Files.delete(log);
        return answer;
    }
}
