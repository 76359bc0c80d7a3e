package io.understudy.local.binary;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Version of an etcd program. */
public record ProgramVersion(int major, int minor, int patch) implements Comparable<ProgramVersion> {

    /** The oldest that Understudy works with. */
    public static final ProgramVersion OLDEST = new ProgramVersion(3, 5, 0);

    private static final Pattern NUMBERS = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\.(\\d{1,4})");
    private static final Comparator<ProgramVersion> ORDER = Comparator.comparingInt(ProgramVersion::major)
            .thenComparingInt(ProgramVersion::minor)
            .thenComparingInt(ProgramVersion::patch);

    /** The first version number in a text such as {@code etcd Version: 3.5.30}. */
    public static Optional<ProgramVersion> in(String text) {
        Matcher numbers = NUMBERS.matcher(text);
        return numbers.find()
                ? Optional.of(new ProgramVersion(
                        Integer.parseInt(numbers.group(1)),
                        Integer.parseInt(numbers.group(2)),
                        Integer.parseInt(numbers.group(3))))
                : Optional.empty();
    }

    public boolean isAtLeast(ProgramVersion other) {
        return compareTo(other) >= 0;
    }

    /** The command line flag of that name, which has had the prefix {@code experimental-} before 3.6. */
    public String flagSince36(String name) {
        return isAtLeast(new ProgramVersion(3, 6, 0)) ? "--" + name : "--experimental-" + name;
    }

    @Override
    public int compareTo(ProgramVersion other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return major + "." + minor + "." + patch;
    }
}
