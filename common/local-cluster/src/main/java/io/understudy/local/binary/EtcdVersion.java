package io.understudy.local.binary;

import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Version of an etcd program. */
public record EtcdVersion(int major, int minor, int patch) implements Comparable<EtcdVersion> {

    /** The oldest that Understudy works with. */
    public static final EtcdVersion OLDEST = new EtcdVersion(3, 5, 0);

    private static final Pattern NUMBERS = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})\\.(\\d{1,4})");
    private static final Comparator<EtcdVersion> ORDER = Comparator.comparingInt(EtcdVersion::major)
            .thenComparingInt(EtcdVersion::minor)
            .thenComparingInt(EtcdVersion::patch);

    /** The first version number in a text such as {@code etcd Version: 3.5.30}. */
    public static Optional<EtcdVersion> in(String text) {
        Matcher numbers = NUMBERS.matcher(text);
        return numbers.find()
                ? Optional.of(new EtcdVersion(
                        Integer.parseInt(numbers.group(1)),
                        Integer.parseInt(numbers.group(2)),
                        Integer.parseInt(numbers.group(3))))
                : Optional.empty();
    }

    public boolean isAtLeast(EtcdVersion other) {
        return compareTo(other) >= 0;
    }

    /** The command line flag of that name, which has had the prefix {@code experimental-} before 3.6. */
    public String flagSince36(String name) {
        return isAtLeast(new EtcdVersion(3, 6, 0)) ? "--" + name : "--experimental-" + name;
    }

    @Override
    public int compareTo(EtcdVersion other) {
        return ORDER.compare(this, other);
    }

    @Override
    public String toString() {
        return major + "." + minor + "." + patch;
    }
}
