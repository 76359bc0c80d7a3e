package io.understudy.cli;

import io.understudy.mirror.home.Move.Way;
import picocli.CommandLine;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.TypeConversionException;

/** How a cluster refuses client writes once it is not the primary. */
final class CloseFlags {

    @Option(
            names = "--close",
            converter = WayFlag.class,
            paramLabel = "roles|corrupt-alarm|auth-enable",
            description =
                    "How the former primary refuses client writes. roles (default): revokes write access to the mirrored keys"
                            + " from all roles but the mirror's; requires authentication. corrupt-alarm: refuses all writes"
                            + " to the cluster during the move, then enables authentication. auth-enable: enables"
                            + " authentication, which refuses reads too; lease expiries continue.")
    private Way close;

    @Option(
            names = "--allow-loss",
            description =
                    "Do not close the former primary. Names the keys written too late; exit status 3 if there are any.")
    private boolean allowLoss;

    Way way(CommandLine command) {
        if (allowLoss && close != null) {
            throw new ParameterException(command, "--close and --allow-loss are mutually exclusive");
        }
        return allowLoss ? Way.NONE : close == null ? Way.ROLES : close;
    }

    /** Not {@code none}, which has a flag of its own. */
    static final class WayFlag implements ITypeConverter<Way> {
        @Override
        public Way convert(String value) {
            for (Way way : Way.values()) {
                if (way != Way.NONE && way.word().equals(value)) {
                    return way;
                }
            }
            throw new TypeConversionException("must be roles, corrupt-alarm or auth-enable, not '" + value + "'");
        }
    }
}
