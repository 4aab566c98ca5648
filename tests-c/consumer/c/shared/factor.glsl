const float FACTOR = 3.0;
