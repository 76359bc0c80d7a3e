package io.understudy.applications;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The workflows of GitHub Actions, checked by actionlint. */
@Timeout(600)
@Tag("distribution")
final class WorkflowsIT {

    @Test
    void actionlintFindsNothingWrong() throws Exception {
        Process process = new ProcessBuilder(
                        "bash",
                        "-c",
                        "tool=$(deploy/src/test/acceptance/go-tool actionlint) || exit; exec \"$tool\" -no-color .github/workflows/*")
                .directory(Path.of("..").toFile())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
        Assumptions.assumeTrue(process.exitValue() != 77, output);
        assertThat(process.exitValue()).as(output).isZero();
    }
}
