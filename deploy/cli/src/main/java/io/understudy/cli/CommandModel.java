package io.understudy.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Completes the model of each command: order of sub-commands, {@code --help}, width and examples.
 *
 * <p>It is part of the model so that manual pages and completion scripts have it too.
 */
final class CommandModel implements IModelTransformer {

    private static final int WIDTH = 100;

    /** Examples by command, in the order of the help. A test parses each. */
    private static final Map<String, List<String>> EXAMPLES = read("""
            understudy: understudy lab
            understudy: understudy gateway --config conf/gateway.yaml
            understudy: understudy cluster status --endpoints http://127.0.0.1:2379
            understudy gateway: understudy gateway --config conf/gateway.yaml
            understudy gateway: understudy gateway --config conf/gateway.yaml --set source.endpoints=http://10.0.0.1:2379 --set listen=0.0.0.0:2379
            understudy gateway grant: understudy gateway grant --config conf/gateway.yaml --dry-run
            understudy mirror: understudy mirror --config conf/mirror.yaml
            understudy mirror: understudy mirror status
            understudy mirror status: understudy mirror status --url http://127.0.0.1:8081
            understudy mirror status: understudy mirror status --output json
            understudy mirror status: understudy mirror status --config conf/mirror.yaml
            understudy mirror verify: understudy mirror verify --config conf/mirror.yaml
            understudy mirror translate: understudy mirror translate --revision 123456
            understudy mirror grant: understudy mirror grant --config conf/mirror.yaml --dry-run
            understudy mirror init-target: understudy mirror init-target --config conf/mirror.yaml --data-dir /var/lib/etcd --member-name dr-1 --peer-urls http://10.1.0.1:2380
            understudy mirror switchover: understudy mirror switchover --config conf/mirror.yaml --dry-run
            understudy mirror switchover: understudy mirror switchover --config conf/mirror.yaml --close corrupt-alarm
            understudy mirror failover: understudy mirror failover --config conf/mirror.yaml --dry-run
            understudy mirror failover: understudy mirror failover --config conf/mirror.yaml --force
            understudy mirror failback: understudy mirror failback --config conf/mirror.yaml --dry-run
            understudy mirror rejoin: understudy mirror rejoin --config conf/mirror.yaml --close auth-enable --dry-run
            understudy mirror release: understudy mirror release --config conf/mirror.yaml --side source
            understudy cluster: understudy cluster status --endpoints http://127.0.0.1:2379
            understudy cluster: understudy cluster supervise --config conf/cluster.yaml
            understudy cluster status: understudy cluster status --endpoints http://10.0.0.1:2379,http://10.0.0.2:2379
            understudy cluster create: understudy cluster create m1 --config conf/cluster.yaml --dry-run
            understudy cluster add: understudy cluster add m4 --peer-urls http://10.0.0.4:2380 --endpoints http://10.0.0.1:2379
            understudy cluster promote: understudy cluster promote m4 --endpoints http://10.0.0.1:2379
            understudy cluster remove: understudy cluster remove m3 --endpoints http://10.0.0.1:2379 --dry-run
            understudy cluster demote: understudy cluster demote m3 --config conf/cluster.yaml --dry-run
            understudy cluster replace: understudy cluster replace m3 --with m4 --peer-urls http://10.0.0.4:2380 --endpoints http://10.0.0.1:2379
            understudy cluster scale: understudy cluster scale 5 --config conf/cluster.yaml
            understudy cluster roll: understudy cluster roll --config conf/cluster.yaml --to-version 3.5.30
            understudy cluster downgrade: understudy cluster downgrade --config conf/cluster.yaml --to-version 3.6.16
            understudy cluster move-leader: understudy cluster move-leader m2 --endpoints http://10.0.0.1:2379
            understudy cluster update-peer-urls: understudy cluster update-peer-urls m2 --peer-urls http://10.0.1.2:2380 --config conf/cluster.yaml
            understudy cluster update-client-urls: understudy cluster update-client-urls m2 --client-urls http://10.0.1.2:2379 --config conf/cluster.yaml
            understudy cluster snapshot: understudy cluster snapshot list --config conf/cluster.yaml
            understudy cluster snapshot save: understudy cluster snapshot save --config conf/cluster.yaml
            understudy cluster snapshot list: understudy cluster snapshot list --config conf/cluster.yaml
            understudy cluster snapshot verify: understudy cluster snapshot verify snapshot.db
            understudy cluster restore: understudy cluster restore --config conf/cluster.yaml --snapshot snapshot.db
            understudy cluster repair: understudy cluster repair --config conf/cluster.yaml --dry-run
            understudy cluster recover: understudy cluster recover --config conf/cluster.yaml
            understudy cluster supervise: understudy cluster supervise --config conf/cluster.yaml
            understudy cluster supervise: understudy cluster supervise status
            understudy cluster supervise status: understudy cluster supervise status --url http://127.0.0.1:8082
            understudy cluster supervise pause: understudy cluster supervise pause
            understudy cluster supervise resume: understudy cluster supervise resume
            understudy health: understudy health
            understudy health: understudy health --url http://127.0.0.1:8081/readyz
            understudy pki: understudy pki init --dir pki
            understudy pki init: understudy pki init --dir pki
            understudy pki issue: understudy pki issue gateway-1 --dir pki --host gateway-1.example,10.0.0.7 --for server
            understudy pki issue: understudy pki issue alice --dir pki --common-name alice --for client
            understudy etcd: understudy etcd path
            understudy etcd path: understudy etcd path
            understudy lab: understudy lab
            understudy lab: understudy lab --data-dir /tmp/lab --output json
            understudy config: understudy config check conf/gateway.yaml
            understudy config: understudy config reference mirror
            understudy config check: understudy config check conf/gateway.yaml
            understudy config check: understudy config check --kind mirror conf/mirror.yaml
            understudy config check: understudy config check conf/gateway.yaml conf/mirror.yaml --output json
            understudy config reference: understudy config reference gateway
            understudy metrics: understudy metrics staleness
            understudy metrics: understudy metrics --output markdown
            understudy generate-completion: understudy generate-completion
            understudy generate-completion: understudy generate-completion --shell fish
            understudy help: understudy help cluster add
            understudy version: understudy version
            understudy version: understudy version --output json
            """);

    @Override
    public CommandSpec transform(CommandSpec command) {
        sort(command);
        command.addOption(OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .description("Print this help and exit.")
                .build());
        command.usageMessage().width(WIDTH);
        if (!(command.userObject() instanceof Callable)) {
            command.usageMessage().synopsisSubcommandLabel("COMMAND");
        }
        exitStatus(command);
        for (String section :
                List.of(UsageMessageSpec.SECTION_KEY_PARAMETER_LIST, UsageMessageSpec.SECTION_KEY_OPTION_LIST)) {
            command.usageMessage()
                    .sectionMap()
                    .computeIfPresent(section, (name, renderer) -> new UnbrokenWords(renderer, WIDTH));
        }
        command.usageMessage()
                .sectionMap()
                .computeIfPresent(
                        UsageMessageSpec.SECTION_KEY_SYNOPSIS,
                        (name, renderer) -> new UnbrokenWords.Synopsis(renderer, WIDTH));
        List<String> examples = examples(command);
        if (!examples.isEmpty()) {
            command.usageMessage()
                    .footerHeading("%nExamples:%n")
                    .footer(lines(examples).toArray(String[]::new));
        }
        for (CommandLine below : command.subcommands().values()) {
            var unused = transform(below.getCommandSpec());
        }
        return command;
    }

    private static void exitStatus(CommandSpec command) {
        Map<String, String> statuses =
                new LinkedHashMap<>(command.usageMessage().exitCodeList());
        statuses.putIfAbsent("0", "success");
        statuses.putIfAbsent("1", "failure");
        statuses.putIfAbsent("2", "usage error");
        if (command.optionsMap().containsKey("--config")) {
            statuses.replace(
                    "2", statuses.get("2").replaceFirst("^usage error", "usage error or invalid configuration"));
        }
        command.usageMessage().exitCodeListHeading("%nExit status:%n").exitCodeList(statuses);
    }

    /** Returns examples as lines of the help. A long example is broken before options, as a shell reads it. */
    private static List<String> lines(List<String> examples) {
        List<String> lines = new ArrayList<>();
        for (String example : examples) {
            StringBuilder line = new StringBuilder(" ");
            for (String part : example.split(" (?=--)", -1)) {
                if (line.length() + part.length() + " \\".length() > WIDTH) {
                    lines.add(line.append(" \\").toString());
                    line = new StringBuilder("     ");
                }
                line.append(' ').append(part);
            }
            lines.add(line.toString());
        }
        return lines;
    }

    /** The model has classes first, then methods by name. */
    private static void sort(CommandSpec command) {
        Map<String, CommandLine> below = new HashMap<>();
        for (CommandLine each : command.subcommands().values()) {
            below.put(each.getCommandSpec().qualifiedName(), each);
        }
        for (String name : EXAMPLES.keySet()) {
            CommandLine next = below.get(name);
            if (next != null) {
                command.addSubcommand(next.getCommandName(), command.removeSubcommand(next.getCommandName()));
            }
        }
    }

    static List<String> examples(CommandSpec command) {
        return EXAMPLES.getOrDefault(command.qualifiedName(), List.of());
    }

    /** Parses examples without lambdas, because their classes take most of the time. */
    private static Map<String, List<String>> read(String text) {
        Map<String, List<String>> examples = new LinkedHashMap<>();
        for (String line : text.split("\n", -1)) {
            String[] parts = line.split(": ", 2);
            if (parts.length == 2) {
                List<String> known = examples.get(parts[0]);
                if (known == null) {
                    known = new ArrayList<>();
                    examples.put(parts[0], known);
                }
                known.add(parts[1]);
            }
        }
        return examples;
    }

    /** A list of flags or arguments in the help, wrapped at blanks only. URLs would be broken at each colon. */
    private record UnbrokenWords(IHelpSectionRenderer list, int width) implements IHelpSectionRenderer {

        private static final Pattern COLOUR = Pattern.compile("\u001b\\[[0-9;]*m");

        @Override
        public String render(Help help) {
            Set<String> words = words(help.commandSpec());
            List<String> lines = new ArrayList<>(list.render(help).lines().toList());
            for (int at = 0; at + 1 < lines.size(); at++) {
                String line = lines.get(at);
                String next = lines.get(at + 1);
                String tail = line.substring(line.lastIndexOf(' ') + 1);
                int colours =
                        line.length() - COLOUR.matcher(line).replaceAll("").length();
                if (line.length() - colours > width) {
                    int cut = line.lastIndexOf(' ', width + colours);
                    move(lines, at, line.substring(0, cut), line.substring(cut + 1) + " ");
                } else if (words.contains(tail + next.strip().split(" ", 2)[0]) && !words.contains(tail)) {
                    move(lines, at, line.substring(0, line.length() - tail.length()), tail);
                }
            }
            return lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
        }

        /** Moves the end of a line to the start of its continuation. Without one, moves it to a new line. */
        private static void move(List<String> lines, int at, String kept, String moved) {
            String next = lines.get(at + 1);
            int indent = indent(next);
            lines.set(at, kept.stripTrailing());
            if (moved.endsWith(" ") && indent != indent(kept)) {
                lines.add(at + 1, " ".repeat(indent(kept)) + moved.stripTrailing());
            } else {
                lines.set(at + 1, " ".repeat(indent) + moved + next.strip());
            }
        }

        private static int indent(String line) {
            return line.length() - line.stripLeading().length();
        }

        /** The synopsis, wrapped at blanks only. It would be broken within {@code [,URL...]}. */
        record Synopsis(IHelpSectionRenderer synopsis, int width) implements IHelpSectionRenderer {

            private static final int UNLIMITED = 10_000;

            @Override
            public String render(Help help) {
                UsageMessageSpec usage = help.commandSpec().usageMessage();
                usage.width(UNLIMITED);
                String line = synopsis.render(help).strip();
                usage.width(width);
                int column = help.synopsisHeadingLength();
                int indent = column + help.commandSpec().qualifiedName().length() + 1;
                StringBuilder text = new StringBuilder();
                for (String word : line.split(" ", -1)) {
                    int length = COLOUR.matcher(word).replaceAll("").length();
                    boolean isBroken = column > indent && column + 1 + length > width;
                    text.append(isBroken ? "\n" + " ".repeat(indent) : text.isEmpty() ? "" : " ")
                            .append(word);
                    column = (isBroken ? indent : column + (text.length() == word.length() ? 0 : 1)) + length;
                }
                return text.append('\n').toString();
            }
        }

        private static Set<String> words(CommandSpec command) {
            Set<String> words = new HashSet<>();
            Stream.concat(command.options().stream(), command.positionalParameters().stream())
                    .map(ArgSpec::description)
                    .forEach(lines ->
                            words.addAll(List.of(String.join(" ", lines).split("\\s+", -1))));
            return words;
        }
    }
}
