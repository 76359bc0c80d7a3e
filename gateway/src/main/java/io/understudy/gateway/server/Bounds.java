package io.understudy.gateway.server;

/** What the values of limits are held to. */
final class Bounds {

    private Bounds() {}

    static void require(String name, long value, long least, long most) {
        if (value < least || value > most) {
            throw new IllegalArgumentException(
                    "limits." + name + " is " + value + "; allowed: " + least + " to " + most);
        }
    }
}
