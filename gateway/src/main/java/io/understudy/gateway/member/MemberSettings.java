package io.understudy.gateway.member;

import io.understudy.config.Configuration;
import io.understudy.config.Setting;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Whom clients see as members.
 *
 * @param advertise where clients reach this gateway; at least one if gateways are shown
 * @param others where clients reach other gateways of the source, by name
 */
public record MemberSettings(MembersShown shown, List<URI> advertise, Map<String, List<URI>> others) {

    public static final MemberSettings DEFAULTS = new MemberSettings(MembersShown.SOURCE, List.of(), Map.of());

    private static final String OTHERS = "gateways";

    private static final Setting<MembersShown> SHOWN = Setting.choice(
                    "members",
                    MembersShown.class,
                    "Whom clients see that ask for the members, since some connect to all of them. source: the source's"
                            + " own; gateways: this one, by advertise, and those under gateways.")
            .defaultsTo(DEFAULTS.shown);
    private static final Setting<List<URI>> ADVERTISE = Setting.uris(
                    "advertise", "Where clients reach this gateway; needed if members is gateways.")
            .optionally()
            .example("http://gateway-1.example:2379");
    private static final Setting<List<URI>> URLS = Setting.uris(
                    "urls", "Where clients reach another gateway of the source, which is called so.")
            .optionally()
            .example("http://gateway-2.example:2379");

    /** The settings as rows. */
    public static final List<Setting<?>> ROWS = List.of(SHOWN, ADVERTISE, URLS.under(OTHERS + ".*"));

    public MemberSettings {
        advertise = List.copyOf(advertise);
        others = Map.copyOf(others);
        if (shown == MembersShown.GATEWAYS && advertise.isEmpty()) {
            throw new IllegalArgumentException(
                    "members is gateways, so advertise must tell where clients reach this one");
        }
        if (shown == MembersShown.SOURCE && !others.isEmpty()) {
            throw new IllegalArgumentException("gateways are named, but members is source: nobody would see them");
        }
    }

    /**
     * What {@link #ROWS} say.
     *
     * @throws IllegalArgumentException for a combination that can't work
     */
    public static MemberSettings from(Configuration configuration) {
        Map<String, List<URI>> others = new LinkedHashMap<>();
        for (String name : configuration.names(OTHERS)) {
            configuration.at(OTHERS + "." + name).find(URLS).ifPresent(urls -> others.put(name, urls));
        }
        return new MemberSettings(
                configuration.get(SHOWN), configuration.find(ADVERTISE).orElse(List.of()), others);
    }
}
